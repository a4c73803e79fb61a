/** Lets Open MPI run as root (in a container), and more ranks than processors. */
export const mpiEnvironment = {
  ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', OMPI_MCA_rmaps_base_oversubscribe: '1',
  OMPI_MCA_btl_vader_single_copy_mechanism: 'none', OMPI_MCA_hwloc_base_binding_policy: 'none',
};
