// The address of the model; bundlers copy the file and give its new address.
export default new URL('./detect.safetensors', import.meta.url);
