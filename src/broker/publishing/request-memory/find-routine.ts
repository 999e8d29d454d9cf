import { fractionDigitsMaximum } from '../../../clock.ts';
import { jsonByte } from '../../../json-bytes.ts';
import type { Routine } from '../../../machine-code/assembler.ts';
import { gapKind } from '../known-shapes/event-shape.ts';
import { numberBytesMaximum } from '../plain-rules/event-walk.ts';
import { eventField, fieldBytes } from './event-fields.ts';

/** An entry of the table of a shape has four numbers. They describe a piece and the gap after it. */
export const entryField = {
  /** Where the piece lies in memory. */
  piece: 0,
  pieceBytes: 4,
  /** One of `gapKind`, or {@link lastPiece}. */
  kind: 8,
  /** Where the start of the gap goes among the fields of the event; its end goes behind it. */
  place: 12,
} as const;

export const entryBytes = 16;

/** Stands for the kind of the gap after the last piece of a shape, where an event ends. */
export const lastPiece = 6;

const { quote, backslash, comma, colon, closeBracket, digitZero, space } = jsonByte;
const [dash, dot, upperCaseZ, lowerCaseA] = [0x2d, 0x2e, 0x5a, 0x61];

/** The bit by which a letter of lower case differs from that of upper case. */
const lowerCase = 0x20;

const digits = 10;
const lettersOfHexadecimal = 6;

/** A vector of these bytes. */
function vector(bytes: Uint8Array): string {
  return `v128.const ${Buffer.from(bytes).toString('hex')}`;
}

/** A vector of 16 times a byte. */
function sixteen(byte: number): string {
  return vector(new Uint8Array(16).fill(byte));
}

const advance = (bytes: number): string => `local.get at i32.const ${bytes} i32.add local.set at`;

const isByte = (byte: number): string => `local.get at i32.load8_u 0 i32.const ${byte} i32.eq`;

/** Turns the bits of 16 equal bytes into those of different ones, with one more behind them. */
const differencesAndEnd = 0x1_ffff;

/** Moves to the next quote, backslash or control character. The byte after the request is one. */
const moveToEndOfText = `
  loop $sixteenBytes
    local.get at v128.load 0 local.tee bytes ${sixteen(quote)} i8x16.eq
    local.get bytes ${sixteen(backslash)} i8x16.eq v128.or
    local.get bytes ${sixteen(space)} i8x16.lt_u v128.or
    i8x16.bitmask local.tee ends
    if
      local.get at local.get ends i32.ctz i32.add local.set at
    else
      ${advance(16)}
      br $sixteenBytes
    end
  end`;

const moveOverDigits = `
  block $noDigit
    loop $digit
      local.get at i32.load8_u 0 i32.const ${digitZero} i32.sub i32.const ${digits} i32.ge_u br_if $noDigit
      ${advance(1)}
      br $digit
    end
  end`;

/** Moves over digits, or leaves a block when there is none. */
const moveOverSomeDigits = (blockWithoutDigits: string): string => `
  local.get at local.set digitsStart
  ${moveOverDigits}
  local.get at local.get digitsStart i32.eq br_if ${blockWithoutDigits}`;

const dashesOfUuid = [8, 13, 18, 23];
const uuidBytes = 36;

/** Compares 16 bytes of a UUID: dashes where they must be, and hexadecimal digits elsewhere. */
function compareUuid(from: number): string {
  const dashes = dashesOfUuid.filter((dash) => dash >= from && dash < from + 16);
  const dashBits = dashes.reduce((bits, dash) => bits | (1 << (dash - from)), 0);
  return `
    local.get at v128.load ${from} local.tee bytes
    ${sixteen(digitZero)} i8x16.sub ${sixteen(digits)} i8x16.lt_u
    local.get bytes ${sixteen(lowerCase)} v128.or
    ${sixteen(lowerCaseA)} i8x16.sub ${sixteen(lettersOfHexadecimal)} i8x16.lt_u v128.or
    i8x16.bitmask
    local.get bytes ${sixteen(dash)} i8x16.eq i8x16.bitmask i32.const 16 i32.shl i32.or
    i32.const ${(dashBits << 16) | (~dashBits & 0xffff)} i32.ne br_if $unlike`;
}

/**
 * A time as most programs write it, for example 2026-01-12T10:00:00.123Z, on a day that every month has. `isDateTime`
 * accepts every such time, and has to check every other. Its first 16 bytes, at the least and at the most:
 */
const [leastTime, greatestTime] = [Buffer.from('0000-00-00T00:00'), Buffer.from('9999-19-29T29:59')];

/** Leaves the time when two digits are not a number from `least` on that is below `limit`. */
function compareTwoDigits(from: number, least: number, limit: number): string {
  return `
    local.get at i32.load8_u ${from} i32.const ${digits} i32.mul local.get at i32.load8_u ${from + 1} i32.add
    i32.const ${digitZero * (digits + 1) + least} i32.sub i32.const ${limit - least} i32.ge_u br_if $unusual`;
}

const matchUsualTime = `
  local.get at v128.load 0 ${vector(leastTime)} i8x16.sub
  ${vector(leastTime.map((byte, index) => (greatestTime[index] as number) - byte))} i8x16.gt_u
  v128.any_true br_if $unusual
  ${compareTwoDigits(5, 1, 13)}
  ${compareTwoDigits(8, 1, 29)}
  ${compareTwoDigits(11, 0, 24)}
  local.get at i32.load8_u 16 i32.const ${colon} i32.ne br_if $unusual
  local.get at i32.load8_u 17 i32.const ${digitZero} i32.sub i32.const 6 i32.ge_u br_if $unusual
  local.get at i32.load8_u 18 i32.const ${digitZero} i32.sub i32.const ${digits} i32.ge_u br_if $unusual
  ${advance(19)}
  ${isByte(dot)}
  if
    ${advance(1)}
    ${moveOverSomeDigits('$unusual')}
    local.get at local.get digitsStart i32.sub i32.const ${fractionDigitsMaximum} i32.gt_u br_if $unusual
  end
  local.get at i32.load8_u 0 i32.const ${upperCaseZ} i32.ne br_if $unusual
  ${advance(1)}
  local.get at i32.load8_u 0 i32.const ${quote} i32.ne br_if $unusual`;

const matchTime = `
  block $time
    block $unusual
      ${matchUsualTime}
      br $time
    end
    local.get gapStart local.set at
    ${moveToEndOfText}
    local.get unusual local.get unusualEnd i32.eq br_if $unlike
    local.get unusual local.get gapStart i32.store 0
    local.get unusual local.get at i32.store 4
    local.get unusual i32.const 8 i32.add local.set unusual
  end`;

const matchNumber = `
  ${isByte(dash)} if ${advance(1)} end
  ${isByte(digitZero)}
  if
    ${advance(1)}
  else
    ${moveOverSomeDigits('$unlike')}
  end
  local.get kind i32.const ${gapKind.number} i32.eq
  if
    ${isByte(dot)}
    if
      ${advance(1)}
      ${moveOverSomeDigits('$unlike')}
    end
  end
  local.get at local.get gapStart i32.sub i32.const ${numberBytesMaximum} i32.gt_u br_if $unlike`;

/**
 * `find` finds the events of a JSON array when all of them have a shape and only one comma stands between them. The
 * array ends at `end`, behind which is a byte of zero: no piece of a shape and no gap has one, so that nothing is read
 * that matters beyond the end. `at` is where the first event begins.
 *
 * The fields of each event are written to `fields`, behind those of the event before it. Nothing else tells what was
 * found, so every gap that is not wanted goes to the place of the start and the end of the event, which are written
 * last. Times in an unusual spelling are listed at `unusual`, with a zero after the last one: a start and an end each.
 *
 * Returns the count of events; 0 when they have not the shape, whether they are valid or not, when there is no room for
 * them, and when one is larger than `eventBytesMaximum`.
 */
export const findRoutine: Routine = {
  name: 'find',
  parameters: [
    'table',
    'at',
    'end',
    'eventBytesMaximum',
    'fields',
    'fieldsEnd',
    'fieldsOfEach',
    'unusual',
    'unusualEnd',
  ],
  variables: [
    'count',
    'eventStart',
    'entry',
    'kind',
    'piece',
    'left',
    'equal',
    'gapStart',
    'digitsStart',
    'ends',
    'place',
  ],
  vectors: ['bytes'],
  returns: true,
  code: `
    block $unlike
      loop $event
        local.get fields local.get fieldsEnd i32.eq br_if $unlike
        local.get at local.set eventStart
        local.get table local.set entry
        block $lastPiece
          loop $gap
            local.get entry i32.load ${entryField.piece} local.set piece
            local.get entry i32.load ${entryField.pieceBytes} local.set left
            block $equalPiece
              loop $sixteenBytes
                local.get at v128.load 0 local.get piece v128.load 0 i8x16.eq i8x16.bitmask
                i32.const ${differencesAndEnd} i32.xor i32.ctz local.tee equal
                local.get left i32.ge_u br_if $equalPiece
                local.get equal i32.const 16 i32.ne br_if $unlike
                ${advance(16)}
                local.get piece i32.const 16 i32.add local.set piece
                local.get left i32.const 16 i32.sub local.set left
                br $sixteenBytes
              end
            end
            local.get at local.get left i32.add local.tee at local.set gapStart
            local.get entry i32.load ${entryField.kind} local.set kind
            block $endOfGap
              local.get kind i32.const ${gapKind.text} i32.eq
              if
                ${moveToEndOfText}
                br $endOfGap
              end
              local.get kind i32.const ${lastPiece} i32.eq br_if $lastPiece
              local.get kind i32.const ${gapKind.mark} i32.eq
              if
                local.get fields local.get entry i32.load ${entryField.place} i32.add local.get at i32.store 0
                local.get entry i32.const ${entryBytes} i32.add local.set entry
                br $gap
              end
              local.get kind i32.const ${gapKind.uuid} i32.eq
              if
                ${compareUuid(0)}
                ${compareUuid(16)}
                ${compareUuid(20)}
                ${advance(uuidBytes)}
                br $endOfGap
              end
              local.get kind i32.const ${gapKind.dateTime} i32.eq
              if
                ${matchTime}
                br $endOfGap
              end
              ${matchNumber}
            end
            local.get fields local.get entry i32.load ${entryField.place} i32.add local.tee place
            local.get gapStart i32.store 0
            local.get place local.get at i32.store ${fieldBytes}
            local.get entry i32.const ${entryBytes} i32.add local.set entry
            br $gap
          end
        end
        local.get at local.get eventStart i32.sub local.get eventBytesMaximum i32.gt_u br_if $unlike
        local.get fields local.get eventStart i32.store ${fieldBytes * eventField.start}
        local.get fields local.get at i32.store ${fieldBytes * eventField.end}
        local.get fields i32.const 0 i32.store ${fieldBytes * eventField.hasFurtherMetadata}
        local.get fields local.get fieldsOfEach i32.const ${fieldBytes} i32.mul i32.add local.set fields
        local.get count i32.const 1 i32.add local.set count
        local.get at i32.load8_u 0 local.set kind
        ${advance(1)}
        local.get kind i32.const ${comma} i32.eq br_if $event
      end
      local.get kind i32.const ${closeBracket} i32.ne br_if $unlike
      local.get at local.get end i32.ne br_if $unlike
      local.get unusual i32.const 0 i32.store 0
      local.get count return
    end
    i32.const 0`,
};
