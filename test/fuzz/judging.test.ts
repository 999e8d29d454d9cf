import { expect } from 'chai';
import { describe, it } from 'mocha';
import { operations, type Operation } from '../support/http/api-description.ts';
import type { Delivery, FuzzRequest } from './generator/drafts.ts';
import { faultsOf } from './judging.ts';
import { findingsIn } from './service-log.ts';
import { acknowledgedEvents, differencesOf } from './state.ts';
import type { Exchange } from './wire-client.ts';

/** The fuzzer has to report each of these, or its silence would mean nothing. */

const operation = operations.find(({ operationId }) => operationId === 'publishEvents') as Operation;

function request(delivery: Delivery = 'whole', body = '[{}]'): FuzzRequest {
  const url = '/event-types/orders/events';
  const bytes = Buffer.from(`POST ${url} HTTP/1.1\r\nHost: x\r\n\r\n${body}`);
  return { index: 0, operation, method: 'POST', url, bytes, delivery, mutations: ['valid'] };
}

function exchangeWith(
  status: number,
  body: string,
  contentType = 'application/problem+json',
  milliseconds = 1,
): Exchange {
  const headers = {
    'content-type': contentType,
    'x-flow-id': 'flow',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return { response: { status, headers, body }, milliseconds, wasEnded: true };
}

function keepable({ response, ...rest }: Exchange): Exchange {
  if (response === undefined) throw new Error('There is no answer');
  return { ...rest, response: { ...response, headers: { ...response.headers, 'cache-control': undefined } } };
}

const problem = (status: number): string =>
  JSON.stringify({ title: 'Not Found', status, detail: 'Why', code: 'NOT_FOUND' });

describe('the fuzzer', () => {
  const bad: [title: string, request: FuzzRequest, exchange: Exchange, fault: RegExp][] = [
    ['a response of 500', request(), exchangeWith(500, problem(500)), /answered 500/],
    ['a response of 503', request(), exchangeWith(503, problem(503)), /answered 503/],
    ['a status that is not described', request(), exchangeWith(418, problem(418)), /not described/],
    [
      'a request of another site that is served',
      { ...request(), expected: /^403$/ },
      exchangeWith(200, '', 'application/json'),
      /200 instead of \^403/,
    ],
    [
      'a request of another site that is refused for another reason',
      { ...request(), expected: /^403$/ },
      exchangeWith(404, problem(404)),
      /404 instead of \^403/,
    ],
    ['a response that may be cached', request(), keepable(exchangeWith(404, problem(404))), /how long it may be kept/],
    ['a refusal in another format', request(), exchangeWith(422, 'No.', 'text/html'), /media type/],
    ['a refusal without a reason', request(), exchangeWith(400, '{"title":"T","status":400,"detail":""}'), /no reason/],
    ['a missing response', request(), { response: undefined, milliseconds: 1, wasEnded: true }, /not answered/],
    ['a connection left open', request('odd'), { response: undefined, milliseconds: 1, wasEnded: false }, /left open/],
    ['a slow response', request(), exchangeWith(400, problem(400), undefined, 60_000), /60000 ms/],
  ];
  for (const [title, asked, exchange, fault] of bad) {
    it(`reports ${title}`, () => {
      expect(faultsOf(asked, exchange).join('\n')).to.match(fault);
    });
  }

  it('reports an id that could be a key, and a key that leads to another entity', () => {
    const key = 'a'.repeat(32);
    const faults = (operationId: string, url: string, body: object): string => {
      const asked = { ...request(), url, operation: operations.find((known) => known.operationId === operationId) };
      return faultsOf(asked as FuzzRequest, exchangeWith(200, JSON.stringify(body), 'application/json')).join('\n');
    };
    expect(faults('createLoan', '/loans', { id: key })).to.match(/could be somebody's key/);
    expect(faults('getLoan', `/loans/${key}`, { id: 'a', encodedKey: 'b' })).to.match(/answered with b, not with/);
    expect(faults('getLoan', `/loans/${key}`, { id: 'a', encodedKey: key })).not.to.match(/could be|not with/);
  });

  it('accepts a rejection that matches the description, and a missing response to a truncated request', () => {
    expect(faultsOf(request(), exchangeWith(404, problem(404)))).to.deep.equal([]);
    expect(faultsOf(request('cut'), { response: undefined, milliseconds: 1, wasEnded: true })).to.deep.equal([]);
  });

  it('accepts the rejections that any request may get, in the format of the API in question', () => {
    const bytes = Buffer.from('GET /toggles HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n');
    const toggles: FuzzRequest = { ...request(), method: 'GET', url: '/toggles', bytes };
    const errors = '{"errors":[{"errorCode":3,"errorReason":"INVALID_API_OPERATION","errorSource":"Why"}]}';
    for (const status of [400, 403, 421]) {
      expect(faultsOf(toggles, exchangeWith(status, errors, 'application/json'))).to.deep.equal([]);
      expect(faultsOf(toggles, exchangeWith(status, problem(status))).join()).to.match(/media type/);
      expect(faultsOf(toggles, exchangeWith(status, '{"reason":"none"}', 'application/json')).join()).to.match(
        /required/,
      );
    }
  });

  it('detects differences between two states', () => {
    const before = new Map([['/toggles', '200 [{"enabled":false}]']]);
    expect(differencesOf(before, before)).to.deep.equal([]);
    expect(differencesOf(before, new Map([['/toggles', '200 [{"enabled":true}]']]))).to.have.length(1);
  });

  it('counts the stored events of a response', () => {
    const items = ['submitted', 'failed'].map((publishing_status) => ({ publishing_status }));
    const count = (status: number, body = ''): number | undefined =>
      acknowledgedEvents(request(), { status, headers: {}, body });
    expect([count(200), count(422), count(207, JSON.stringify(items))]).to.deep.equal([1, 0, 1]);
    expect(acknowledgedEvents(request('whole', '['), { status: 200, headers: {}, body: '' })).to.equal(undefined);
  });

  it('reports errors in the log and output of the engine, but not warnings', () => {
    const line = (level: number): string => JSON.stringify({ level, msg: 'It happened' });
    const { findings, warnings } = findingsIn([line(40), line(50), '(node:1) Warning: many listeners']);
    expect(findings).to.have.length(2);
    expect([...warnings]).to.deep.equal([['It happened', 1]]);
  });
});
