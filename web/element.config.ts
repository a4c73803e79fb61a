// Builds the custom element: attention.js, a script without imports, and its types.
import { readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import ts from 'typescript';
import { defineConfig, type Plugin } from 'vite';

const entry = new URL('./src/element/element.ts', import.meta.url).pathname;

/** The styles take their place in the script. */
function styleInside(): Plugin {
  return {
    name: 'style-inside',
    generateBundle: {
      order: 'post', // when Vite has put the style together
      handler(_, bundle) {
        const files = Object.values(bundle);
        const style = files.find((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
        const script = files.find((file) => file.type === 'chunk');
        if (style?.type !== 'asset' || script?.type !== 'chunk') throw new Error('[element] there is no style or no script');
        const parts = script.code.split(/(["'`])STYLE\1/);
        if (parts.length !== 3) throw new Error('[element] the script has no place for the style');
        script.code = parts[0] + JSON.stringify(String(style.source).trim()) + parts[2];
        delete bundle[style.fileName];
      },
    },
  };
}

/** The types are those of the entry alone, whose public face needs no other file but the package's. */
function types(): Plugin {
  return {
    name: 'types',
    generateBundle() {
      const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(entry, 'utf8'), {
        fileName: 'attention.ts',
        reportDiagnostics: true,
        compilerOptions: { isolatedDeclarations: true, declaration: true, target: ts.ScriptTarget.ES2022,
          module: ts.ModuleKind.ESNext },
      });
      if (diagnostics?.length) throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost({})));
      const source = outputText.replace("from 'wasmformer'", "from './shared/types.js'").replace(/^import '.*\n/gm, '');
      this.emitFile({ type: 'asset', fileName: 'attention.d.ts', source });
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [svelte({ configFile: false }), styleInside(), types()],
  build: {
    lib: { entry, formats: ['es'], fileName: 'attention' },
    outDir: '../dist', emptyOutDir: false, target: 'es2022',
    rolldownOptions: { output: { minify: true, comments: false } },
  },
});
