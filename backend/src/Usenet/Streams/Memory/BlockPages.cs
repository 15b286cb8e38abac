using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// The memory behind blocks, which the system can have back while their arrays stay: the collector comes too rarely where
/// nothing is allocated, and memory that was left to it would count beside memory that is allocated anew.
/// </summary>
internal static partial class BlockPages
{
    // Of linux/mman.h. MADV_DONTNEED: the pages go at once, and read as zeros when they are touched again. MADV_POPULATE_WRITE:
    // they come at once.
    private const int DontNeed = 4;
    private const int PopulateWrite = 23;

    /// <summary>Makes a block. On Linux it never moves, so that its pages can be given back.</summary>
    public static byte[] Allocate(int length) => GC.AllocateUninitializedArray<byte>(length, pinned: OperatingSystem.IsLinux());

    /// <summary>
    /// Brings the pages of a block that is about to be written: one call for all costs half of what a fault for each of them does. Where
    /// the system does not know how, they come one by one.
    /// </summary>
    public static void Populate(byte[] block)
    {
        if (OperatingSystem.IsLinux())
            _ = Advise(block, PopulateWrite);
    }

    /// <summary>Gives the pages of a block back that belong to nothing else. Its content is arbitrary from then on.</summary>
    /// <returns>False where the system has no way to do so, and only the collector can.</returns>
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
