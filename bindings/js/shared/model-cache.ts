/** The part of Cache Storage that is used, whose types projects for Node lack; only folders have clear(). */
export interface ModelCache {
  match(key: string): Promise<Response | undefined>;
  put(key: string, response: Response): Promise<void>;
  delete(key: string): Promise<boolean>;
  keys(): Promise<readonly { url: string }[]>;
  clear?(): Promise<void>;
}
