import type { ErrorRequestHandler, Response } from 'express';

/** Where the response keeps the stream token of its request, until the stream is open. */
const tokenName = 'streamToken';

/** A stream token that is in use. Giving it back lets another request use it. */
interface UsedToken {
  giveBack(): Promise<void>;
}

/** Says which token opens the stream of a response. It is given back when the response ends without a stream. */
export function setStreamToken(response: Response, token: UsedToken): void {
  response.locals[tokenName] = token;
  // The client may go before there is a response.
  response.once('close', () => {
    if (!response.headersSent) void giveBack(response);
  });
}

/**
 * Gives the stream token of a request back that is refused: it is used up by a stream alone. The response comes
 * afterwards, so that its client can use the token at once. Mount it after every router.
 */
export const giveTokensBack: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent || response.locals[tokenName] === undefined) return next(error);
  return answerAfterwards(response, () => next(error));
};

async function answerAfterwards(response: Response, answer: () => void): Promise<void> {
  await giveBack(response);
  answer();
}

/** What the store cannot give back is used up. */
async function giveBack(response: Response): Promise<void> {
  const token = response.locals[tokenName] as UsedToken | undefined;
  response.locals[tokenName] = undefined;
  await token?.giveBack().catch(() => undefined);
}
