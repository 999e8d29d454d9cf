import type { Decimal } from '../../lending/money.ts';
import type { Bounded } from '../../lending/products/product.ts';
import { type FieldReader, present } from './field-reader.ts';

/** A default, a least and a greatest amount or percentage. */
export function boundedDecimal(reader: FieldReader): Bounded<Decimal> {
  reader.ignore('encodedKey');
  return present({
    defaultValue: reader.decimal('defaultValue'),
    minValue: reader.decimal('minValue'),
    maxValue: reader.decimal('maxValue'),
  });
}

/** A default, a least and a greatest count. */
export function boundedCount(reader: FieldReader): Bounded<number> {
  reader.ignore('encodedKey');
  return present({
    defaultValue: reader.count('defaultValue'),
    minValue: reader.count('minValue'),
    maxValue: reader.count('maxValue'),
  });
}
