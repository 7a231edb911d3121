// The failure that ends a run because nothing can be kept any more.

/** The store cannot be read or written just now. The message is for a person: what, where, what to do. */
export class StoreFailure extends Error {
  override name = "StoreFailure";
  /** The content is damaged: it can be moved aside and salvaged. */
  readonly isDamaged: boolean;

  constructor(message: string, options: { isDamaged?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.isDamaged = options.isDamaged ?? false;
  }
}
