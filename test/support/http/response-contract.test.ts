import { expect } from 'chai';
import { describe, it } from 'mocha';
import { responseFaults, type SeenResponse } from './response-contract.ts';

describe('validating responses against the description', () => {
  const flow = { 'x-flow-id': 'flow', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
  const json = { ...flow, 'content-type': 'application/json; charset=utf-8' };
  const version = { method: 'GET', url: '/version?x=1', status: 200, headers: json, body: '{"version":"1.0.0"}' };
  const lendingRefusal = {
    ...version,
    status: 404,
    body: '{"errors":[{"errorCode":3,"errorReason":"INVALID_API_OPERATION","errorSource":"There is nothing."}]}',
  };
  const rows: [string, SeenResponse, RegExp | null][] = [
    ['takes what is described', version, null],
    ['misses a field', { ...version, body: '{}' }, /must have required property 'version'/],
    ['knows no other field', { ...version, body: '{"version":"1","more":1}' }, /must NOT have additional properties/],
    ['knows no other status', { ...version, status: 202 }, /not described with this status/],
    ['knows no other media type', { ...version, headers: { ...flow, 'content-type': 'text/html' } }, /media type/],
    ['misses the flow id', { ...version, headers: { 'content-type': 'application/json' } }, /X-Flow-Id/],
    ['lets no type be guessed', { ...version, headers: { 'cache-control': 'no-store' } }, /type may be guessed/],
    ['misses how long it may be kept', { ...version, headers: {} }, /how long it may be kept/],
    ['knows no other path', { ...version, url: '/versions' }, /path is not described/],
    ['knows no other method', { ...version, method: 'POST' }, /method is not described/],
    [
      'takes a refusal of lending below its paths',
      { ...lendingRefusal, url: '/loanproducts:changeState?limit=17' },
      null,
    ],
    ['takes it nowhere else', { ...lendingRefusal, url: '/loanproductsX' }, /media type/],
    ['sees a body where none is', { ...version, method: 'DELETE', url: '/event-types/a', body: 'gone' }, /has a body/],
  ];
  for (const [behaviour, response, fault] of rows) {
    it(behaviour, () => {
      const faults = responseFaults(response).join('\n');
      if (fault === null) expect(faults).to.equal('');
      else expect(faults).to.match(fault);
    });
  }
});
