import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { description, type JsonObject } from './api-description.ts';
import { responseFaults, type SeenResponse } from './response-contract.ts';

describe('validating responses against the description', () => {
  it('uses schemas that are valid themselves', () => {
    const ajv = new Ajv2020();
    const schemas = (description['components'] as JsonObject)['schemas'] as Readonly<Record<string, JsonObject>>;
    expect(Object.keys(schemas)).not.to.have.length(0);
    for (const [name, schema] of Object.entries(schemas)) {
      expect(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`).to.equal(true);
    }
  });

  const flow = { 'x-flow-id': 'flow', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
  const json = { ...flow, 'content-type': 'application/json; charset=utf-8' };
  const version = {
    method: 'GET',
    url: '/version?x=1',
    status: 200,
    headers: json,
    body: '{"version":"1.0.0","release":"v1.0"}',
  };
  const lendingRefusal = {
    ...version,
    status: 404,
    body: '{"errors":[{"errorCode":3,"errorReason":"INVALID_API_OPERATION","errorSource":"There is nothing."}]}',
  };
  const rows: [string, SeenResponse, RegExp | null][] = [
    ['accepts a described response', version, null],
    ['reports a missing field', { ...version, body: '{}' }, /must have required property 'version'/],
    [
      'reports an undescribed field',
      { ...version, body: '{"version":"1","more":1}' },
      /must NOT have additional properties/,
    ],
    ['reports an undescribed status', { ...version, status: 202 }, /not described with this status/],
    [
      'reports an undescribed media type',
      { ...version, headers: { ...flow, 'content-type': 'text/html' } },
      /media type/,
    ],
    ['reports a missing flow id', { ...version, headers: { 'content-type': 'application/json' } }, /X-Flow-Id/],
    [
      'reports a missing nosniff header',
      { ...version, headers: { 'cache-control': 'no-store' } },
      /type may be guessed/,
    ],
    ['reports a missing Cache-Control header', { ...version, headers: {} }, /how long it may be kept/],
    ['reports an undescribed path', { ...version, url: '/versions' }, /path is not described/],
    ['reports an undescribed method', { ...version, method: 'POST' }, /method is not described/],
    [
      'accepts a lending refusal below the lending paths',
      { ...lendingRefusal, url: '/loanproducts:changeState?limit=17' },
      null,
    ],
    ['reports a lending refusal on other paths', { ...lendingRefusal, url: '/loanproductsX' }, /media type/],
    ['reports an unexpected body', { ...version, method: 'DELETE', url: '/event-types/a', body: 'gone' }, /has a body/],
  ];
  for (const [behaviour, response, fault] of rows) {
    it(behaviour, () => {
      const faults = responseFaults(response).join('\n');
      if (fault === null) expect(faults).to.equal('');
      else expect(faults).to.match(fault);
    });
  }
});
