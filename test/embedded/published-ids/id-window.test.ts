import { expect } from 'chai';
import { describe, it } from 'mocha';
import { IdWindow } from '../../../src/embedded/published-ids/id-window.ts';

describe('a window of ids', () => {
  it('knows the partition of an id until it is removed', () => {
    const window = new IdWindow();
    window.add({ id: 'a', partition: 1, storedAt: 10 });
    window.add({ id: 'b', partition: 2, storedAt: 20 });
    expect(['a', 'b', 'c'].map((id) => window.partitionOf(id))).to.deep.equal([1, 2, undefined]);
    expect(window.removeThrough(9)).to.equal(false);
    expect(window.removeThrough(10)).to.equal(true);
    expect([window.partitionOf('a'), window.partitionOf('b'), window.size]).to.deep.equal([undefined, 2, 1]);
    window.add({ id: 'a', partition: 4, storedAt: 40 });
    expect(window.partitionOf('a')).to.equal(4);
  });

  it('keeps an id until its latest copy is removed', () => {
    const window = new IdWindow();
    window.add({ id: 'a', partition: 1, storedAt: 10 });
    window.add({ id: 'b', partition: 2, storedAt: 20 });
    window.add({ id: 'a', partition: 3, storedAt: 30 });
    expect([window.partitionOf('a'), window.size]).to.deep.equal([3, 2]);
    expect(window.removeThrough(29)).to.equal(true);
    expect([window.partitionOf('a'), window.partitionOf('b'), window.size]).to.deep.equal([3, undefined, 1]);
    expect(window.removeThrough(30)).to.equal(true);
    expect([window.partitionOf('a'), window.size]).to.deep.equal([undefined, 0]);
  });

  it('keeps an id whose copies pass through it, however many', () => {
    const window = new IdWindow();
    for (let time = 0; time < 10_000; time += 1) {
      window.add({ id: 'a', partition: time % 8, storedAt: time });
      window.removeThrough(time - 1);
      expect([window.partitionOf('a'), window.size]).to.deep.equal([time % 8, 1]);
    }
  });

  it('is right however many have passed through it', () => {
    const window = new IdWindow();
    for (let id = 0; id < 50_000; id += 1) {
      window.add({ id: String(id), partition: id % 8, storedAt: id });
      window.removeThrough(id - 1_000);
      if (id % 997 !== 0 || id < 1_000) continue;
      expect(window.size).to.equal(1_000);
      expect(window.partitionOf(String(id - 999))).to.equal((id - 999) % 8);
      expect(window.partitionOf(String(id - 1_000))).to.equal(undefined);
    }
  });
});
