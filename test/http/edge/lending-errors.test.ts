import { expect } from 'chai';
import { Router } from 'express';
import { after, before, describe, it } from 'mocha';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LendstreamError, errorCatalogue, type ErrorCode } from '../../../src/errors.ts';
import { createApplication } from '../../../src/http/edge/application.ts';
import { lendingErrorHandler } from '../../../src/http/edge/lending-errors.ts';
import { type Logger, silentLogger } from '../../../src/logger.ts';
import { type HttpResponse, call } from '../../support/http/client.ts';
import { leaveUnwatched } from '../../support/http/response-watch.ts';
import { checkedLogger } from '../../support/logs/secrets-in-logs.ts';

describe('the error format of the lending API', () => {
  let server: Server;
  let url: string;
  let failure: unknown;
  const logged: object[] = [];
  const logger: Logger = checkedLogger({ error: (facts) => logged.push(facts) });

  before(async () => {
    const router = Router();
    router.get('/loans', (_request, response) => {
      if (failure === 'half way') {
        response.status(200).write('[');
        throw new Error('half way');
      }
      throw failure;
    });
    router.use('/loans', lendingErrorHandler(logger));
    const application = createApplication([router], silentLogger);
    server = await new Promise<Server>((resolve) => {
      const listening = application.listen(0, '127.0.0.1', () => resolve(listening));
    });
    leaveUnwatched(server);
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/loans`;
  });

  after(() => server.close());

  function responseTo(error: unknown): Promise<HttpResponse> {
    failure = error;
    return call(`${url}?accountHolderId=secret-of-a-person`, 'GET');
  }

  const rows: [ErrorCode, string, string | null][] = [
    ['MALFORMED_REQUEST', 'INVALID_PARAMETERS', null],
    ['REQUEST_TOO_LARGE', 'INVALID_PARAMETERS', null],
    ['UNSUPPORTED_MEDIA_TYPE', 'INVALID_PARAMETERS', null],
    ['NOT_FOUND', 'INVALID_API_OPERATION', null],
    ['CONFLICT', 'ANOTHER_TASK_IN_PROGRESS', '5'],
    ['OVERLOADED', 'SERVICE_UNAVAILABLE', '1'],
    ['LOG_UNAVAILABLE', 'SERVICE_UNAVAILABLE', '1'],
    ['LOG_CLOSED', 'SERVICE_UNAVAILABLE', '1'],
    ['OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE', '1'],
    ['LOG_FULL', 'SERVICE_UNAVAILABLE', '1'],
  ];
  for (const [code, reason, retryAfter] of rows) {
    it(`returns ${code} as ${reason}, with its message as the source`, async () => {
      const response = await responseTo(new LendstreamError(code, 'What happened.'));
      expect(response.status).to.equal(errorCatalogue[code].status);
      expect(response.headers.get('retry-after')).to.equal(retryAfter);
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      const [error, ...others] = response.body['errors'] as Record<string, unknown>[];
      expect(others).to.deep.equal([]);
      expect(error).to.include({ errorReason: reason, errorSource: 'What happened.' });
      expect(error?.['errorCode']).to.be.a('number');
    });
  }

  for (const error of [new TypeError('secret of the house'), new LendstreamError('INTERNAL', 'secret of the house')]) {
    it(`shows only a token of ${error.name === 'TypeError' ? 'a bug' : 'an internal error'}, under which it is logged`, async () => {
      const response = await responseTo(error);
      expect(response.status).to.equal(500);
      expect(response.text).to.not.include('secret');
      const token = /report ([0-9a-f]{24})\./.exec(response.text)?.[1];
      expect(logged.at(-1)).to.include({ token, path: '/loans' });
      expect(JSON.stringify(logged)).to.not.include('secret-of-a-person');
    });
  }

  it('cuts the connection when a response has already begun', async () => {
    const failed = await responseTo('half way').catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
    expect(logged.at(-1)).to.include({ path: '/loans' });
  });
});
