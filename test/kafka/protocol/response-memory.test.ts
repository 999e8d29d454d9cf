import { expect } from 'chai';
import { describe, it } from 'mocha';
import { allocateResponse, ResponseMemory } from '../../../src/kafka/protocol/response-memory.ts';

const [minimum, maximum] = [256 * 1024, 1200 * 1024];

function memoryOf(response: Buffer): ResponseMemory {
  const memory = ResponseMemory.of(response);
  if (memory === undefined) throw new Error('Its memory is not used again');
  return memory;
}

describe('the memory of a response', () => {
  it('is used again when the last who needs it has released it, and not before', () => {
    const response = allocateResponse(maximum);
    const { shared } = memoryOf(response);
    shared.retain();
    shared.release();
    expect(allocateResponse(maximum).buffer).not.to.equal(response.buffer);
    shared.release();
    const next = allocateResponse(minimum);
    expect(next.buffer).to.equal(response.buffer);
    expect(next).to.have.length(minimum);
  });

  for (const bytes of [minimum - 1, maximum + 1]) {
    it(`of ${bytes} bytes is not used again`, () => {
      const response = allocateResponse(bytes);
      expect(response).to.have.length(bytes);
      expect(ResponseMemory.of(response)).to.equal(undefined);
    });
  }

  it('has one count of who needs it', () => {
    const response = allocateResponse(minimum);
    memoryOf(response.subarray(4));
    expect(ResponseMemory.of(response)).to.equal(undefined);
  });

  it('has room behind the response, aligned for numbers, until it is used up', () => {
    const response = allocateResponse(maximum - 5);
    const memory = memoryOf(response);
    const first = memory.allocate(20);
    expect(first).to.equal(maximum);
    expect(memory.allocate(8)).to.equal(maximum + 24);
    const left = memory.shared.memory.byteLength - (maximum + 32);
    expect(memory.allocate(left + 1)).to.equal(undefined);
    expect(memory.allocate(left)).to.equal(maximum + 32);
    expect(memory.allocate(1)).to.equal(undefined);
  });
});
