import assert from 'node:assert/strict';
import { RequestsInFlight, type RequestInFlight } from '../../../src/kafka/connection/requests-in-flight.ts';

function inFlight(...correlationIds: number[]): RequestsInFlight<RequestInFlight> {
  const requests = new RequestsInFlight<RequestInFlight>();
  for (const correlationId of correlationIds) requests.set(correlationId, { correlationId });
  return requests;
}

function idsOf(requests: RequestsInFlight<RequestInFlight>): number[] {
  const ids = requests.values().map(({ correlationId }) => correlationId);
  return ids.sort((left, right) => left - right);
}

describe('requests in flight', () => {
  it('are found by their correlation id until they are deleted', () => {
    const requests = inFlight(1, 2, 3);
    assert.equal(requests.get(2)?.correlationId, 2);
    assert.equal(requests.delete(2), true);
    assert.equal(requests.get(2), undefined);
    assert.equal(requests.has(2), false);
    assert.deepEqual(idsOf(requests), [1, 3]);
    assert.equal(requests.size, 2);
  });

  it('are unchanged when the first, the last or an unknown one is deleted', () => {
    const requests = inFlight(1, 2, 3);
    assert.equal(requests.delete(4), false);
    requests.delete(1);
    assert.deepEqual(idsOf(requests), [2, 3]);
    requests.delete(3);
    requests.delete(2);
    assert.deepEqual(idsOf(requests), []);
  });

  it('hold one request for each correlation id', () => {
    const requests = inFlight(1);
    const second = { correlationId: 1 };
    requests.set(1, second);
    assert.equal(requests.size, 1);
    assert.equal(requests.get(1), second);
  });

  it('are all visited, although each is deleted during its visit', () => {
    const requests = inFlight(1, 2, 3, 4);
    const visited: number[] = [];
    requests.forEach(({ correlationId }) => {
      visited.push(correlationId);
      requests.delete(correlationId);
    });
    assert.deepEqual(visited, [1, 2, 3, 4]);
    assert.equal(requests.size, 0);
  });

  it('are none after they were cleared', () => {
    const requests = inFlight(1, 2);
    requests.clear();
    assert.equal(requests.size, 0);
    assert.deepEqual(idsOf(requests), []);
  });
});
