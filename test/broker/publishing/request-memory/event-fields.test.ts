import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventField, fieldsOfEach } from '../../../../src/broker/publishing/request-memory/event-fields.ts';

describe('fieldsOfEach', () => {
  it('counts a start and an end for each wanted path after the other fields', () => {
    expect([0, 1, 3].map(fieldsOfEach)).to.deep.equal([5, 7, 11]);
    expect(Math.max(...Object.values(eventField))).to.equal(eventField.wanted);
  });
});
