namespace Sluice.Usenet.Archives;

/// <summary>Foretells where the data lies in volumes that were not looked into (IMP-52). Pure.</summary>
/// <remarks>
/// Volumes that lie wholly inside of one file differ in nothing but their length and, in RAR 5, the bytes that their number takes: one up to
/// 127, two from 128 on. What is foretold has to be verified before any byte of it leaves.
/// </remarks>
public static class RarPrediction
{
    private const int CipherBlock = 16;

    /// <summary>All volumes of a set of which only the first two and the last were read.</summary>
    /// <param name="first">The first volume, read whole or as far as to the file that goes on.</param>
    /// <param name="second">The second one, likewise.</param>
    /// <param name="middle">Lengths of those between the second and the last one, in bytes; null where unknown: then it is that of the second.</param>
    /// <param name="last">The last one, read whole.</param>
    /// <returns>
    /// The volumes in order, those between <see cref="RarVolume.IsPredicted"/>; null unless one stored file reaches from the first to the last
    /// volume, and its parts sum up to its length exactly.
    /// </returns>
    public static IReadOnlyList<RarVolume>? Of(RarVolume first, RarVolume second, IReadOnlyList<long?> middle, RarVolume last)
    {
        if (first.Tail is not { IsSplitBefore: false, Method: null } opening || last.Head is not { IsSplitBefore: true, IsSplitAfter: false } closing
            || second.Head is not { IsSplitBefore: true, IsSplitAfter: true } carrying
            || carrying.Identity != opening.Identity || closing.Identity != opening.Identity
            || !last.IsWhole || !HaveNumbers(first, second, last, middle.Count + 2))
            return null;

        var volumes = new List<RarVolume>(middle.Count + 3) { first, second };
        var behind = second.Length - carrying.DataOffset - carrying.DataLength;
        var sum = opening.DataLength + carrying.DataLength + closing.DataLength;
        for (var number = 2; number < middle.Count + 2; number++)
        {
            var length = middle[number - 2] ?? second.Length;
            var offset = carrying.DataOffset + GrowthOfNumber(second, number);
            var dataLength = length - offset - behind;
            if (dataLength <= 0 || dataLength > opening.UnpackedLength)
                return null;

            sum += dataLength;
            volumes.Add(second with
            {
                Length = length,
                Number = second.Format == ArchiveFormat.Rar5 ? number : null,
                Parts = [carrying with { DataOffset = offset, DataLength = dataLength, Crc32 = null }],
                IsWhole = false,
                Continues = null,
                IsPredicted = true,
            });
        }

        volumes.Add(last);
        var expected = opening.UnpackedLength;
        if (opening.Encryption is not null)
            expected += -expected & (CipherBlock - 1);
        return sum == expected ? volumes : null;
    }

    /// <summary>Whether the numbers that the volumes tell are those of their places. RAR 5 tells all, RAR 4 those at whose end it was looked.</summary>
    private static bool HaveNumbers(RarVolume first, RarVolume second, RarVolume last, int lastNumber) =>
        second.Format == ArchiveFormat.Rar5
            ? (first.Number, second.Number, last.Number) == (0, 1, lastNumber)
            : first.Number is null or 0 && second.Number is null or 1 && (last.Number is null || last.Number == lastNumber);

    /// <summary>Bytes by which the headers of a volume are longer than those of the second one.</summary>
    private static int GrowthOfNumber(RarVolume second, int number)
    {
        if (second.Format == ArchiveFormat.Rar4)
            return 0;

        var before = second.MainHeaderLength;
        var after = Rar5Block.Grown(before, Rar5Block.VintLength(number) - Rar5Block.VintLength(1));
        return second.HasEncryptedHeaders ? Padded(after) - Padded(before) : after - before;
    }

    private static int Padded(int length) => (length + CipherBlock - 1) & -CipherBlock;
}
