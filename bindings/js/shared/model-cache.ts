/** What is used of Cache Storage, whose types projects for Node lack; it has no clear(). */
export interface ModelCache {
  match(key: string): Promise<Response | undefined>;
  put(key: string, response: Response): Promise<void>;
  delete(key: string): Promise<boolean>;
  keys(): Promise<readonly { url: string }[]>;
  clear?(): Promise<void>;
}
