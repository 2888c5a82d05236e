/** The settings of the command executor; part of the table in `settings.ts`. */

import { integer, plainText } from './value-kinds.ts'

export const COMMAND_ROWS = {
  workDir: {
    env: 'HOLDFAST_WORK_DIR',
    default: null,
    about: 'Where programs get a folder for each attempt, removed with it. Without it, `work` in HOLDFAST_DATA_DIR.',
    kind: plainText(),
  },
  folderMaxMb: {
    env: 'HOLDFAST_WORK_MAX_MB',
    default: '10240',
    about: 'A program whose folder grows beyond this is killed; temporary files and output files count.',
    kind: integer(1, 1_073_741_824),
  },
  outputFilesMax: {
    env: 'HOLDFAST_OUTPUT_FILES_MAX',
    default: '1000',
    about: 'A program that leaves more output files fails its attempt.',
    kind: integer(0, 100_000),
  },
  outputFilesMaxMb: {
    env: 'HOLDFAST_OUTPUT_FILES_MAX_MB',
    default: '1024',
    about: 'The same for the size of its output files together.',
    kind: integer(1, 1_048_576),
  },
}
