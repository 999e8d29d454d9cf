import type { NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * One handler in place of several that see every request, whatever its path: the router would compare the path for each
 * of them, and keep and restore what it knows of it. It calls them as the router does: each when the one before calls
 * `next`, and none after one that fails.
 */
export function inOrder(handlers: readonly RequestHandler[]): RequestHandler {
  return (request, response, next) => callFrom(0, handlers, request, response, next);
}

function callFrom(
  index: number,
  handlers: readonly RequestHandler[],
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  const handler = handlers[index];
  if (handler === undefined) return next();
  const goOn = (error?: unknown): void => {
    if (error === undefined || error === null) callFrom(index + 1, handlers, request, response, next);
    else next(error);
  };
  try {
    const result = handler(request, response, goOn);
    if (result instanceof Promise) void passOnFailure(result, next);
  } catch (error) {
    next(error);
  }
}

async function passOnFailure(result: Promise<void>, next: NextFunction): Promise<void> {
  try {
    await result;
  } catch (error) {
    next(error ?? new Error('A handler failed without an error'));
  }
}
