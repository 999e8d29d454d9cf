import type { NextFunction, RequestHandler } from 'express';

/** A handler that calls others, which show what it serves as the stack of a router does. */
export type HandlersInOrder = RequestHandler & { readonly handlers: readonly RequestHandler[] };

/**
 * One handler in place of several that see every request, whatever its path; routers may be among them. A router would
 * compare the path for each of them, and keep and restore what it knows of it. It calls them as a router does: each
 * when the one before calls `next`, and none after one that fails.
 */
export function inOrder(several: readonly RequestHandler[]): HandlersInOrder {
  const handlers = several.flatMap((handler) =>
    'handlers' in handler ? (handler as HandlersInOrder).handlers : handler,
  );
  const handle: RequestHandler = (request, response, next) => {
    let index = 0;
    const goOn = (error?: unknown): void => {
      if (error !== undefined && error !== null) return next(error);
      const handler = handlers[index];
      if (handler === undefined) return next();
      index += 1;
      try {
        const result = handler(request, response, goOn);
        if (result instanceof Promise) void passOnFailure(result, next);
      } catch (thrown) {
        next(thrown);
      }
    };
    goOn();
  };
  return Object.assign(handle, { handlers });
}

async function passOnFailure(result: Promise<void>, next: NextFunction): Promise<void> {
  try {
    await result;
  } catch (error) {
    next(error ?? new Error('A handler failed without an error'));
  }
}
