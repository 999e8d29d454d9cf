import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  ValidationBudget,
  validationStepsPerByte,
  validationStepsPerEvent,
  validationStepsPerRequest,
} from '../../../src/broker/schemas/validation-budget.ts';

describe('The budget of a request', () => {
  it('gives one event a part of it, and has no limit where no budget applies', () => {
    expect(new ValidationBudget(8 * 1024 * 1024).stepsPerEvent).to.equal(validationStepsPerEvent);
    expect(new ValidationBudget(Infinity).stepsPerEvent).to.equal(Infinity);
  });

  it('is as the documents promise', () => {
    expect([validationStepsPerRequest, validationStepsPerByte, validationStepsPerEvent]).to.deep.equal([
      50_000_000, 25, 50_000_000,
    ]);
  });

  it('is the same for every request without a body, and grows with each byte of a body', () => {
    expect(new ValidationBudget(0).steps).to.equal(validationStepsPerRequest);
    expect(new ValidationBudget(1_000).steps).to.equal(validationStepsPerRequest + 1_000 * validationStepsPerByte);
  });
});
