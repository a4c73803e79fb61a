// The linter and formatter of JavaScript, TypeScript and Svelte: `npm run format` fixes what it can, `npm test` checks.
// Line breaks inside an expression stay the author's: Prettier would make web/ a fifth longer and break up its tables.
import js from '@eslint/js';
import stylistic from '@stylistic/eslint-plugin';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

export default [
  { ignores: ['build/', 'dist/', 'web/public/', 'tests/fixtures/', '**/*.d.ts'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  stylistic.configs.customize({ indent: 2, quotes: 'single', semi: true, braceStyle: '1tbs', arrowParens: true }),
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-undef': 'off', // TypeScript checks it
      'no-control-regex': 'off',
      'no-useless-assignment': 'off', // takes [state, effects] = … for one
      '@typescript-eslint/no-this-alias': 'off',
      '@typescript-eslint/no-unused-vars': ['error', {
        varsIgnorePattern: '^_$', argsIgnorePattern: '^_$', ignoreRestSiblings: true, caughtErrors: 'none',
      }],
      'svelte/prefer-svelte-reactivity': 'off', // what a store keeps for itself need not be reactive
      'svelte/require-each-key': 'off',
      'svelte/no-useless-mustaches': 'off', // {' '} keeps a space
      'svelte/no-unused-svelte-ignore': 'off', // does not see the compiler's warnings about elements
      '@stylistic/operator-linebreak': ['error', 'before', { overrides: { '=': 'ignore' } }],
      '@stylistic/quotes': ['error', 'single', { avoidEscape: true, allowTemplateLiterals: 'always' }],
      '@stylistic/quote-props': ['error', 'as-needed'],
      '@stylistic/generator-star-spacing': ['error', { before: true, after: false }],
      '@stylistic/multiline-ternary': 'off',
      '@stylistic/lines-between-class-members': 'off',
      '@stylistic/max-statements-per-line': ['error', { max: 2 }],
      '@stylistic/max-len': ['error', {
        code: 140, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true, ignoreUrls: true,
        ignorePattern: '<m(row|i|o|n|sub|sup|frac|sqrt|text)>|svelte-ignore',
      }],
    },
  },
  {
    files: ['bindings/js/**/*.ts'],
    languageOptions: { parserOptions: { project: 'bindings/js/tsconfig.json' } },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser } },
    rules: { '@stylistic/indent': 'off', 'svelte/indent': ['error', { indent: 2, indentScript: true }] },
  },
  { files: ['tests/js/package-types.ts'], rules: { '@typescript-eslint/no-unused-expressions': 'off' } },
  { files: ['**/*.cjs', 'bindings/cli-binary.js'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
];
