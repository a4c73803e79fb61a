# Comments as Doxygen reads them: // above a declaration or behind it becomes ///, and the first of a file is about the file.
1s,^// ,/// \\file\n/// ,
s,^\( *\)//\( \|$\),\1///\2,
s,\([;\,]\)  *// ,\1 ///< ,
