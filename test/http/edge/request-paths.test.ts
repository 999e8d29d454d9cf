import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isLendingPath, pathsBelow, withoutLastSlash } from '../../../src/http/edge/request-paths.ts';

describe('the path of a request', () => {
  it('belongs to a resource at its path, below it, and as an operation on the whole collection', () => {
    const paths = ['/loans', '/loans/', '/loans/x/y', '/loans:search', '/loansharks', '/loan', '/x/loans', '/Loans'];
    expect(paths.filter((path) => pathsBelow('/loans').test(path))).to.deep.equal(paths.slice(0, 4));
  });

  it('belongs to the lending API below its resources', () => {
    const paths = ['/loans/x', '/loanproducts', '/toggles', '/commands/1', '/subscriptions', '/', '/event-types/loans'];
    expect(paths.filter(isLendingPath)).to.deep.equal(paths.slice(0, 4));
  });

  it('is compared without a slash at its end', () => {
    expect(['/docs/', '/docs', '/', '//'].map(withoutLastSlash)).to.deep.equal(['/docs', '/docs', '/', '/']);
  });
});
