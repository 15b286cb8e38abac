using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>Returns the memory of blocks to the operating system but keeps their arrays.</summary>
/// <remarks>The garbage collector rarely runs while nothing is allocated, so memory left to it would come on top of new allocations.</remarks>
internal static partial class BlockPages
{
    // From linux/mman.h. MADV_DONTNEED frees the pages at once; they read as zeros when touched again. MADV_POPULATE_WRITE maps them at once.
    private const int DontNeed = 4;
    private const int PopulateWrite = 23;

    /// <summary>Allocates a block, pinned on Linux so that its pages can be freed.</summary>
    public static byte[] Allocate(int length) => GC.AllocateUninitializedArray<byte>(length, pinned: OperatingSystem.IsLinux());

    /// <summary>Maps the pages of a block before it is written, because one call costs half as much as the page faults. Does nothing if unsupported.</summary>
    public static void Populate(byte[] block)
    {
        if (OperatingSystem.IsLinux())
            _ = Advise(block, PopulateWrite);
    }

    /// <summary>Frees the pages that lie completely inside a block. Its content is arbitrary afterwards.</summary>
    /// <returns>False if the system does not support this, so only the garbage collector can free the block.</returns>
    public static bool TryGiveBack(byte[] block) => OperatingSystem.IsLinux() && Advise(block, DontNeed);

    private static unsafe bool Advise(byte[] block, int advice)
    {
        var page = (nuint)Environment.SystemPageSize;
        var address = (nuint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(block));
        var first = (address + page - 1) & ~(page - 1);
        var end = (address + (nuint)block.Length) & ~(page - 1);
        return first < end && Advise(first, end - first, advice) == 0;
    }

    [LibraryImport("libc", EntryPoint = "madvise")]
    private static partial int Advise(nuint address, nuint length, int advice);
}
