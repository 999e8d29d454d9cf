import { LendstreamError } from '../../errors.ts';
import { becauseOf } from './refusal-reasons.ts';

/** 403 that says what is missing, and nothing about what exists. */
export function missingPermission(permission: string): LendstreamError {
  return new LendstreamError('PERMISSION_MISSING', `This needs the permission ${permission}.`, {
    details: becauseOf('permission'),
  });
}
