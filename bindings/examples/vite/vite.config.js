export default {
  publicDir: '../../../web/public/models', // where de-en.safetensors lies; put your own into public/
  optimizeDeps: { exclude: ['wasmformer'] }, // its worker and modules stay files of their own
};
