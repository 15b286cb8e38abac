using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Streams;

/// <summary>
/// The memory behind blocks, which the system can have back while their arrays stay: the collector comes too rarely where
/// nothing is allocated, and what it was left with would count beside what is allocated anew.
/// </summary>
internal static partial class BlockPages
{
    // MADV_DONTNEED of linux/mman.h: the pages go at once, and read as zeros when they are touched again.
    private const int DontNeed = 4;

    /// <summary>Makes a block. On Linux it never moves, so that its pages can be given back.</summary>
    public static byte[] Allocate(int length) => GC.AllocateUninitializedArray<byte>(length, pinned: OperatingSystem.IsLinux());

    /// <summary>Gives the pages of a block back that belong to nothing else. Its content is arbitrary from then on.</summary>
    /// <returns>False where the system has no way to do so, and only the collector can.</returns>
    public static unsafe bool TryGiveBack(byte[] block)
    {
        if (!OperatingSystem.IsLinux())
            return false;

        var page = (nuint)Environment.SystemPageSize;
        var address = (nuint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(block));
        var first = (address + page - 1) & ~(page - 1);
        var end = (address + (nuint)block.Length) & ~(page - 1);
        return first < end && Advise(first, end - first, DontNeed) == 0;
    }

    [LibraryImport("libc", EntryPoint = "madvise")]
    private static partial int Advise(nuint address, nuint length, int advice);
}
