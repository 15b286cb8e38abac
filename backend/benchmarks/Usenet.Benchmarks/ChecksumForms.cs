using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>The forms of the checksum that this CPU runs, each by itself.</summary>
internal static class ChecksumForms
{
    public delegate uint Update(uint register, ReadOnlySpan<byte> data);

    public static IReadOnlyList<(string Name, Update Update)> Supported { get; } = [.. Find()];

    private static IEnumerable<(string, Update)> Find()
    {
        if (Pclmulqdq.V512.IsSupported)
            yield return ("512 bit", Crc32Folding.Update<Crc32Folding512, Vector512<ulong>>);
        if (Pclmulqdq.V256.IsSupported)
            yield return ("256 bit", Crc32Folding.Update<Crc32Folding256, Vector256<ulong>>);
        if (CarrylessProduct.IsSupported)
            yield return ("128 bit", Crc32Folding.Update<Crc32Folding128, Vector128<ulong>>);
        if (Crc32.Arm64.IsSupported)
            yield return ("CRC32 instructions", Crc32Short.UpdateArm);
        yield return ("slicing", Crc32Slicing.Update);
    }
}
