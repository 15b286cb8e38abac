namespace Sluice.Server.Database;

/// <summary>There is not enough room on the disk of the data folder; the same call may succeed once there is (IMP-4).</summary>
internal sealed class DiskFullException(Exception? inner = null) : IOException("Disk is full", inner)
{
    private const int Enospc = 28;
    private const int Edquot = 122;

    /// <summary>Whether the system refused a write for want of room.</summary>
    public static bool IsCauseOf(IOException failure) => (failure.HResult & 0xFFFF) is Enospc or Edquot;
}
