import { expect } from 'chai';
import { describe, it } from 'mocha';
import { operations } from '../../support/http/api-description.ts';
import { generate } from './generator.ts';
import { LiveIds } from '../live-ids.ts';

const numbers = Array.from({ length: 200 }, (_, number) => number);

/** By then the rarest corruption has come up. */
const numbersMaximum = 30_000;

describe('the requests of the fuzzer', () => {
  it('are the same for the same seed and number, whichever were generated before', () => {
    const ids = new LiveIds();
    const forwards = numbers.map((number) => generate(7, number, ids).bytes);
    const backwards = numbers.toReversed().map((number) => generate(7, number, ids).bytes);
    expect(Buffer.concat(forwards).equals(Buffer.concat(backwards.toReversed()))).to.equal(true);
    expect(generate(8, 0, ids).bytes.equals(forwards[0] ?? Buffer.alloc(0))).to.equal(false);
  });

  it('use every operation, every kind of corruption, and none', () => {
    const expected = [
      'valid',
      'prototype key',
      'hostile schema',
      'costly schema',
      'number at the edge',
      'stray reference',
      'repeated key in the depth',
      'truncated',
      'gzip',
      'cut off',
      'half of it, then nothing',
      'a flow id that is too long',
      'a foreign origin',
      'a foreign site',
      'a foreign host',
      'two hosts',
    ];
    const operationIds = new Set(operations.map(({ operationId }) => operationId));
    const [asked, mutations] = [new Set<string>(), new Set<string>()];
    const isComplete = (): boolean =>
      asked.size === operationIds.size && mutations.size > 80 && expected.every((name) => mutations.has(name));
    for (let number = 0; number < numbersMaximum && !isComplete(); number += 1) {
      const request = generate(5, number, new LiveIds());
      asked.add(request.operation.operationId);
      for (const mutation of request.mutations) mutations.add(mutation);
    }
    expect([...mutations]).to.include.members(expected);
    expect(asked).to.deep.equal(operationIds);
    expect(mutations.size).to.be.greaterThan(80);
  });

  it('use ids that the service created', () => {
    const ids = new LiveIds();
    ids.add('subscription', 'made-by-the-service');
    const paths = numbers.map((number) => generate(1, number, ids).url);
    expect(paths.some((path) => path.startsWith('/subscriptions/made-by-the-service'))).to.equal(true);
  });
});
