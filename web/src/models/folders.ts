// Folders of files, as they are dropped or as addresses name them.

/** Files that were dropped, or the files of one dropped folder, with its name. */
export interface Dropped {
  files: File[];
  folder: string;
}

/** Call it while the event lasts: what was dropped is out of reach afterwards. */
export async function dropped({ items, files }: DataTransfer): Promise<Dropped> {
  const plain = { files: [...files], folder: '' };
  const [entry] = [...items].map((item) => item.webkitGetAsEntry?.());
  if (!entry?.isDirectory) return plain;
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: File[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return { files: found, folder: entry.name };
    const inside = some.filter(({ isFile }) => isFile) as FileSystemFileEntry[];
    found.push(
      ...(await Promise.all(
        inside.map((file) => new Promise<File>((resolve, reject) => file.file(resolve, reject))),
      )),
    );
  }
}

/** Returns whether a file is a saved run, which holds more than a model. */
export const isRun = ({ name }: File) => /\.run( ?\(\d+\))?\.safetensors$/.test(name);

/** Returns whether files are parts of one model: those of a folder, or of a model that has several files. */
export const isFolder = ({ files, folder }: Dropped) =>
  folder !== '' || files.some(({ name }) => /^config\.json$|\.npz$|\.spm$|\.bin$/.test(name));

/** Percent codes as text; what is malformed stays as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Address of the files of a Hugging Face page: the address that people copy shows a page about them. */
export function filesAt(address: URL): URL {
  const [, owner, name, kind, ...rest] = address.pathname.split('/').filter((part, i) => i === 0 || part !== '');
  if (!/^(www\.)?(huggingface\.co|hf\.co)$/.test(address.hostname) || !name || kind === 'resolve') return address;
  const [revision = 'main', ...path] = kind === 'tree' || kind === 'blob' ? rest : [];
  return new URL(['', owner, name, 'resolve', revision, ...path].join('/'), address);
}

/** Returns whether an address names a folder: its last part is not a file name, since it has no dot. */
export const isFolderAddress = ({ pathname }: URL) => !pathname.split('/').at(-1)!.includes('.');

/** 'opus-mt-fr-en' of its address, whatever the host puts after it. */
export const folderName = ({ pathname }: URL) =>
  pathname
    .replace(/\/(resolve|raw|tree)\/[^/]+\/?$/, '')
    .split('/')
    .filter(Boolean)
    .map(decoded)
    .at(-1) ?? '';

/** 'fr-en' of 'opus-mt-fr-en'; undefined where the name does not end so. */
export const languagesIn = (name: string) => /-([a-z]{2,3}-[a-z]{2,3})$/.exec(name)?.[1];

/** Returns whether a file's name, or an address's path, names a list of models, such as Mozilla's. */
export const isList = (path: string) => /\.json$|\/records$/.test(path) && !/(^|\/)config\.json$/.test(path);

/**
 * Who takes files that were dropped on the page: the view that is shown, if it takes files and they are no folder of
 * a model, the list of runs, or the models.
 */
export function destinationOf(
  files: readonly File[],
  hasDirectory: boolean,
  hasTaker: boolean,
): 'view' | 'runs' | 'models' {
  const isOfModel = hasDirectory || isFolder({ files: [...files], folder: '' });
  if (hasTaker && !isOfModel) return 'view';
  return isRun(files[0]) ? 'runs' : 'models';
}
