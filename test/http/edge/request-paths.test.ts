import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  isBelowApi,
  isLendingPath,
  isMambuStreamingPath,
  withoutLastSlash,
} from '../../../src/http/edge/request-paths.ts';
import { operations } from '../../support/http/api-description.ts';

describe('the path of a request', () => {
  it('belongs to a resource at its path, below it, and as an operation on the whole collection', () => {
    const paths = ['/loans', '/loans/', '/loans/x/y', '/loans:search', '/loansharks', '/loan', '/x/loans', '/Loans'];
    expect(paths.filter(isLendingPath)).to.deep.equal(paths.slice(0, 4));
  });

  it('belongs to the lending API below its resources', () => {
    const paths = ['/loans/x', '/loanproducts', '/toggles', '/commands/1', '/subscriptions', '/', '/event-types/loans'];
    expect(paths.filter(isLendingPath)).to.deep.equal(paths.slice(0, 4));
  });

  it('belongs to the lending API everywhere below /api', () => {
    const paths = ['/api', '/api/', '/api/loans', '/api/nowhere', '/api/event-types', '/apis', '/API/loans', '/x/api'];
    expect(paths.filter(isLendingPath)).to.deep.equal(paths.slice(0, 5));
    expect(paths.filter(isBelowApi)).to.deep.equal(paths.slice(0, 5));
  });

  it("belongs to Mambu's streaming API at and below both of its subscriptions, and not to lending there", () => {
    const streaming = ['', '/', '/x', '/x/events', '/x/y'].flatMap((rest) => [
      `/api/v1/subscriptions${rest}`,
      `/api/subscriptions${rest}`,
    ]);
    const others = [
      '/subscriptions',
      '/api/subscription',
      '/api/v1',
      '/api/v1/loans',
      '/api/v2/subscriptions',
      '/v1/subscriptions',
    ];
    expect([...streaming, ...others].filter(isMambuStreamingPath)).to.deep.equal(streaming);
    expect(streaming.filter(isLendingPath)).to.deep.equal([]);
    expect(others.filter(isLendingPath)).to.deep.equal(others.filter((path) => path.startsWith('/api')));
  });

  it('belongs to the lending API exactly where the description has its errors and no other', () => {
    const lending = operations.filter(({ responses }) => {
      const { content = {} } = responses['400'] ?? {};
      const isLending = content['application/json']?.schema['$ref'] === '#/components/schemas/LendingErrors';
      return isLending && content['application/problem+json'] === undefined;
    });
    expect(lending).to.have.length.greaterThan(20);
    const inLending = new Set(lending.map(({ path }) => path));
    for (const { path } of operations) expect(isLendingPath(path), path).to.equal(inLending.has(path));
  });

  it('is compared without a slash at its end', () => {
    expect(['/docs/', '/docs', '/', '//'].map(withoutLastSlash)).to.deep.equal(['/docs', '/docs', '/', '/']);
  });
});
