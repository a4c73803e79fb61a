// Folders of files, as they are dropped or as addresses name them.

/** What was dropped: files, or the files of one folder, with its name. */
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

/** Whether a file is a run that was saved, which holds more than a model. */
export const isRun = ({ name }: File) => /\.run( ?\(\d+\))?\.safetensors$/.test(name);

/** Whether files are the parts of one model: a folder's, or more than the one file of a model. */
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

/** Where the files of a Hugging Face page are: the address that people copy shows a page about them. */
export function filesAt(address: URL): URL {
  const [, owner, name, kind, ...rest] = address.pathname.split('/').filter((part, i) => i === 0 || part !== '');
  if (!/^(www\.)?(huggingface\.co|hf\.co)$/.test(address.hostname) || !name || kind === 'resolve') return address;
  const [revision = 'main', ...path] = kind === 'tree' || kind === 'blob' ? rest : [];
  return new URL(['', owner, name, 'resolve', revision, ...path].join('/'), address);
}

/** Whether an address names a folder: its last part is no file. */
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

/** Whether a file's name, or the path of an address, is that of a list of models, such as Mozilla's. */
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
