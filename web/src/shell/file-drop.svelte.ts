// Receiver of files dropped anywhere on the page: the view that is shown, or else the models.
export interface Taker {
  take(files: File[]): void;
  /** Shown while the file is over the page. */
  say(): string;
}

export class FileDrop {
  taker = $state.raw<Taker | null>(null);

  /** For an effect: takes what is dropped until it is cleaned up. */
  take(taker: Taker) {
    this.taker = taker;
    return () => (this.taker = null);
  }
}

export const createFileDrop = () => new FileDrop();
