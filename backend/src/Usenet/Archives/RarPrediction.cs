namespace Sluice.Usenet.Archives;

/// <summary>Predicts the data location in unread volumes (IMP-52). Pure.</summary>
/// <remarks>
/// Volumes inside one file differ only in length and, in RAR 5, in the size of their number: one byte up to 127, two from 128 on.
/// A prediction must be verified before any of its bytes are served.
/// </remarks>
public static class RarPrediction
{
    private const int CipherBlock = 16;

    /// <summary>Predicts all volumes of a set from the first two and the last.</summary>
    /// <param name="first">The first volume, read at least up to the file that continues.</param>
    /// <param name="second">The second volume, read as far as the first.</param>
    /// <param name="middle">Lengths of the other volumes in bytes; null to assume the second volume's length.</param>
    /// <param name="last">The last volume, read whole.</param>
    /// <returns>The volumes in order. Null unless one stored file spans all volumes and its parts add up exactly.</returns>
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

    /// <summary>Whether known volume numbers match their positions in the set. RAR 5 numbers every volume, RAR 4 only at the end of a volume.</summary>
    private static bool HaveNumbers(RarVolume first, RarVolume second, RarVolume last, int lastNumber) =>
        second.Format == ArchiveFormat.Rar5
            ? (first.Number, second.Number, last.Number) == (0, 1, lastNumber)
            : first.Number is null or 0 && second.Number is null or 1 && (last.Number is null || last.Number == lastNumber);

    /// <summary>Returns the number of bytes by which a volume's headers exceed those of the second volume.</summary>
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
