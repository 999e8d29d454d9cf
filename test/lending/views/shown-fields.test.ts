import { expect } from 'chai';
import { describe, it } from 'mocha';
import { shown } from '../../../src/lending/views/shown-fields.ts';

describe('the fields that a view shows', () => {
  it('are those that are not null', () => {
    expect(shown({ text: '', none: null, count: 0, list: [] })).to.deep.equal({ text: '', count: 0, list: [] });
  });
});
