import { jsonByte } from '../../../json-bytes.ts';
import type { Routine } from '../../../machine-code/assembler.ts';

/**
 * A part of what is gathered: bytes in memory from a start to an end. For a part of an event, they are at these places
 * among the fields of the event.
 */
export const partField = { isOfEvent: 0, start: 4, end: 8 } as const;

export const partBytes = 12;

/** An entry of the list says where the fields of an event are and where the recipe of its parts is. */
export const listedField = { event: 0, recipe: 4 } as const;

export const listedBytes = 8;

/** A recipe begins with the position at which its parts end. */
export const recipeHeadBytes = 4;

/** How many bytes are copied at a time. As many may be read and written after the end of what is copied. */
export const stepBytes = 16;

/**
 * `gather` writes for each entry of a list the parts of its event to `to`, one after another with a comma after the
 * last one, and returns the position after the last comma. Where each comma is replaces the first number of its entry.
 * With 0 instead of 1 for `between`, what follows replaces the comma.
 */
export const gatherRoutine: Routine = {
  name: 'gather',
  parameters: ['list', 'listEnd', 'to', 'between'],
  variables: ['event', 'part', 'partsEnd', 'at', 'end'],
  returns: true,
  code: `
    loop $entry
      local.get list i32.load ${listedField.event} local.set event
      local.get list i32.load ${listedField.recipe} local.tee part i32.load 0 local.set partsEnd
      local.get part i32.const ${recipeHeadBytes} i32.add local.set part
      loop $part
        local.get part i32.load ${partField.start} local.set at
        local.get part i32.load ${partField.end} local.set end
        local.get part i32.load ${partField.isOfEvent}
        if
          local.get event local.get at i32.add i32.load 0 local.set at
          local.get event local.get end i32.add i32.load 0 local.set end
        end
        block $copied
          local.get at local.get end i32.ge_u br_if $copied
          loop $step
            local.get to local.get at v128.load 0 v128.store 0
            local.get to i32.const ${stepBytes} i32.add local.set to
            local.get at i32.const ${stepBytes} i32.add local.tee at
            local.get end i32.lt_u br_if $step
          end
          local.get to local.get at local.get end i32.sub i32.sub local.set to
        end
        local.get part i32.const ${partBytes} i32.add local.tee part
        local.get partsEnd i32.lt_u br_if $part
      end
      local.get list local.get to i32.store ${listedField.event}
      local.get to i32.const ${jsonByte.comma} i32.store8 0
      local.get to local.get between i32.add local.set to
      local.get list i32.const ${listedBytes} i32.add local.tee list
      local.get listEnd i32.lt_u br_if $entry
    end
    local.get to`,
};
