import type { ErrorRequestHandler, Request, Response } from 'express';
import type { HeldRefusals } from '../../../access/limits/held-refusals.ts';
import { isLendstreamError } from '../../../errors.ts';
import { bodyBytesMaximum } from '../../edge/request-body.ts';
import { usageOf } from './usage-of-response.ts';

/** Discarding so many bytes of a body costs about as much as another refusal. */
const bytesOfWeight = 64 * 1024;

/** As how long a body counts that does not say its length. Bytes. */
const unknownBodyBytes = 1024 * 1024;

/**
 * Answers refusals with 429 at a bounded rate for each sender, and reads nothing from their connections until then.
 * Mount it after every router.
 */
export function createRefusalHolding(held: HeldRefusals): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) return next(error);
    if (!isLendstreamError(error, 'TOO_MANY_REQUESTS')) return next(error);
    const pace = usageOf(response)?.refusals ?? held.paceOf(request.ip ?? '');
    const holding = held.hold(pace, weightOf(request));
    if (holding === undefined) return next(error);
    // Node would go on to read requests that the client sends without waiting for responses, and keep all of them.
    request.socket.pause();
    return answerAfter(holding, request, response, () => next(error));
  };
}

async function answerAfter(
  holding: Promise<boolean>,
  request: Request,
  response: Response,
  answer: () => void,
): Promise<void> {
  const isClosing = await holding;
  request.socket.resume();
  if (isClosing) response.set('Connection', 'close');
  answer();
}

function weightOf({ headers }: Request): number {
  const length = headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : unknownBodyBytes);
  return 1 + Math.min(Number(length), bodyBytesMaximum) / bytesOfWeight;
}
