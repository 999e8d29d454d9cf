import type { FieldReader } from './field-reader.ts';
import { present } from './field-reader.ts';

/** Where an institution or one of its branches is. No rule reads it. */
export interface Address {
  readonly line1?: string;
  readonly line2?: string;
  readonly city?: string;
  readonly region?: string;
  readonly postcode?: string;
  readonly country?: string;
  /** Degrees. */
  readonly latitude?: number;
  readonly longitude?: number;
}

/** An address as it is kept. What clients send back of an address as they got it elsewhere, its keys, means nothing. */
export function readAddress(reader: FieldReader): Address {
  reader.ignore('encodedKey', 'parentKey', 'indexInList');
  return present({
    line1: reader.text('line1'),
    line2: reader.text('line2'),
    city: reader.text('city'),
    region: reader.text('region'),
    postcode: reader.text('postcode'),
    country: reader.text('country'),
    latitude: readDegrees(reader, 'latitude', 90),
    longitude: readDegrees(reader, 'longitude', 180),
  });
}

function readDegrees(reader: FieldReader, name: string, maximum: number): number | undefined {
  const degrees = reader.decimal(name);
  if (degrees === undefined) return undefined;
  if (degrees.abs().greaterThan(maximum)) reader.refuse(name);
  // A double holds as many digits as a decimal here may have.
  return degrees.toNumber();
}
