import type { RequestHandler } from 'express';
import { LendstreamError } from '../../errors.ts';
import { isBrowserPage } from './browser-pages.ts';
import { withoutLastSlash } from './request-paths.ts';

/** What operators look at while the process starts. */
const operations = new Set(['/health', '/ready', '/metrics', '/version']);

/** Lets requests through as soon as the process can serve them. */
export interface StartGate {
  /** Mount it after the authentication and before every other router. */
  readonly router: RequestHandler;
  /** From now on, every request passes. */
  open(): void;
}

/**
 * While a process starts, only the routes for operators are served, and the pages of a browser, which show the errors
 * of their requests. Every other request gets 503, in the error format of the API that its path belongs to.
 * @param reasons Why the process cannot serve now, each a sentence.
 */
export function createStartGate(reasons: () => readonly string[]): StartGate {
  let isOpen = false;
  const router: RequestHandler = (request, _response, next) => {
    if (isOpen || operations.has(withoutLastSlash(request.path)) || isBrowserPage(request.path)) {
      next();
      return;
    }
    throw new LendstreamError('LOG_UNAVAILABLE', reasons().join(' '));
  };
  return {
    router,
    open() {
      isOpen = true;
    },
  };
}
