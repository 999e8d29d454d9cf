import { expect } from 'chai';
import { Router } from 'express';
import { after, before, describe, it } from 'mocha';
import { errorCatalogue, LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import { isLendingPath } from '../../../src/http/edge/request-paths.ts';
import { operations } from '../../support/http/api-description.ts';
import { call } from '../../support/http/client.ts';
import { serve, type Served } from '../../support/subscription-store.ts';

/** An operation for which the description has this status. */
function requestOf(status: number): { readonly method: string; readonly path: string } {
  const found = operations.find(
    ({ path, responses }) => !isLendingPath(path) && responses[String(status)] !== undefined,
  );
  return { method: found?.method ?? 'get', path: (found?.path ?? '/none').replaceAll(/\{\w+\}/g, 'x') };
}

describe('an error of the streaming API', () => {
  let server: Served;
  let code: ErrorCode = 'INTERNAL';

  before(async () => {
    const router = Router();
    router.all('/*path', () => {
      throw new LendstreamError(code, 'It is so.');
    });
    server = await serve([router]);
  });

  after(() => server.close());

  // Errors that no router throws: authentication.test.ts and application.test.ts cover them.
  const codes = (Object.keys(errorCatalogue) as ErrorCode[]).filter(
    (each) => ![401, 405, 408, 431].includes(errorCatalogue[each].status),
  );
  for (const thrown of codes) {
    const { status, title, retriable } = errorCatalogue[thrown];
    it(`${thrown} is a problem with status ${status}${retriable ? ', and says when to come again' : ''}`, async () => {
      code = thrown;
      const { method, path } = requestOf(status);
      const response = await call(`${server.url}${path}`, method.toUpperCase());
      expect(response.status).to.equal(status);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
      expect(response.headers.get('retry-after')).to.equal(retriable ? '1' : null);
      expect(response.body).to.include({ title, status });
      const detail = code === 'INTERNAL' ? /^An internal error happened.*\([0-9a-f]{24}\)$/ : /^It is so\.$/;
      expect(response.body['detail']).to.match(detail);
    });
  }
});
