import { expect } from 'chai';
import { describe, it } from 'mocha';
import { IdempotentRequests, commandIdOf } from '../../src/http/idempotency.ts';
import { isLendstreamError } from '../../src/errors.ts';

const body = Buffer.from('{"amount":1}');
const answer = { status: 201, body: '{}' };
const sixHours = 6 * 3_600_000;

function failureOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('the command id of a request', () => {
  it('is the same for the same key and path, on any node and after any restart', () => {
    // Written out: were it ever to change, a request repeated over an upgrade would run twice.
    expect(commandIdOf('key', '/loans/a/repayment-transactions')).to.equal('50bc4b9a-5af7-5ee8-a6f1-35047cb26550');
  });

  it('differs by key and by path, wherever one ends and the other begins', () => {
    const ids = [
      commandIdOf('key', '/loans/a'),
      commandIdOf('key', '/loans/b'),
      commandIdOf('other', '/loans/a'),
      commandIdOf('key/loans', '/a'),
    ];
    expect(new Set(ids).size).to.equal(4);
  });

  it('is made of a key of one to 256 characters', () => {
    for (const length of [1, 256]) expect(commandIdOf('k'.repeat(length), '/loans')).to.match(/^[\da-f-]{36}$/);
    for (const length of [0, 257])
      expect(failureOf(() => commandIdOf('k'.repeat(length), '/loans'))).to.be.instanceOf(Error);
  });

  it('is new for each request without a key', () => {
    expect(commandIdOf(undefined, '/loans')).to.not.equal(commandIdOf(undefined, '/loans'));
  });
});

describe('requests under an Idempotency-Key', () => {
  it('run when they are first seen, and replay their answer when they are finished', () => {
    const requests = new IdempotentRequests();
    expect(requests.begin('a', body, 0)).to.equal(undefined);
    requests.finish('a', answer, 0);
    expect(requests.begin('a', body, 1)).to.deep.equal(answer);
  });

  it('conflict with themselves while in progress', () => {
    const requests = new IdempotentRequests();
    requests.begin('a', body, 0);
    expect(
      isLendstreamError(
        failureOf(() => requests.begin('a', body, sixHours * 2)),
        'CONFLICT',
      ),
    ).to.equal(true);
  });

  it('are refused with another body, in progress and finished', () => {
    const requests = new IdempotentRequests();
    const other = Buffer.from('{"amount":2}');
    requests.begin('a', body, 0);
    expect(
      isLendstreamError(
        failureOf(() => requests.begin('a', other, 0)),
        'UNPROCESSABLE',
      ),
    ).to.equal(true);
    requests.finish('a', answer, 0);
    expect(
      isLendstreamError(
        failureOf(() => requests.begin('a', other, 0)),
        'UNPROCESSABLE',
      ),
    ).to.equal(true);
  });

  it('run again when the first left nothing to replay', () => {
    const requests = new IdempotentRequests();
    requests.begin('a', body, 0);
    requests.forget('a');
    expect(requests.begin('a', Buffer.from('{"amount":2}'), 0)).to.equal(undefined);
  });

  it('lose their stored answer after six hours', () => {
    const requests = new IdempotentRequests();
    requests.begin('a', body, 0);
    requests.finish('a', answer, 1);
    expect(requests.begin('a', body, sixHours)).to.deep.equal(answer);
    expect(requests.begin('a', body, sixHours + 1)).to.equal(undefined);
  });

  it('lose their stored answers oldest first beyond the limit', () => {
    const requests = new IdempotentRequests(2);
    for (const id of ['a', 'b', 'c']) {
      requests.begin(id, body, 0);
      requests.finish(id, answer, 0);
    }
    expect(requests.begin('a', body, 0)).to.equal(undefined);
    expect(requests.begin('b', body, 0)).to.deep.equal(answer);
    expect(requests.begin('c', body, 0)).to.deep.equal(answer);
  });
});
