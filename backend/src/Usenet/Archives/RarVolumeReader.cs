namespace Sluice.Usenet.Archives;

/// <summary>How far a RAR volume is read.</summary>
public enum RarDepth
{
    /// <summary>Up to the first file with data.</summary>
    FirstFile,

    /// <summary>All headers up to the end of the volume.</summary>
    Whole,
}

/// <summary>Reads the headers of one RAR volume and skips all data. Thread-safe: it has no state.</summary>
/// <remarks>Follows technote.txt for RAR 2.9 to 4, and the technical note of RAR 5.0 for RAR 5 and 7.</remarks>
public static class RarVolumeReader
{
    private const int MarkerLength = 8;

    private static ReadOnlySpan<byte> Rar4Marker => "Rar!\x1A\x07\0"u8;

    private static ReadOnlySpan<byte> Rar5Marker => "Rar!\x1A\x07\x01\0"u8;

    /// <summary>Reads a volume. Passwords are used only if headers are encrypted.</summary>
    /// <exception cref="ArchiveException">The volume is damaged, truncated, self-extracting, older than RAR 2.9, not decryptable, or over budget.</exception>
    public static async ValueTask<RarVolume> ReadAsync(
        HeaderWindow window, RarPasswords passwords, RarDepth depth, CancellationToken cancellationToken)
    {
        var marker = await window.ReadAsync(0, (int)Math.Min(MarkerLength, window.Length), cancellationToken);
        var (format, offset) = Recognise(marker.Span);
        var headers = new RarHeaderReader(window, format, passwords);
        var parts = new List<RarPart>();
        var volume = new RarVolume { Format = format, Length = window.Length, Parts = parts };
        var hasMain = false;
        while (offset < window.Length)
        {
            var (block, length, end) = await headers.ReadAsync(offset, cancellationToken);
            if (block.DataLength > window.Length - end)
                throw new ArchiveException(ArchiveFault.Broken, "it is cut short");
            if (hasMain == (block.Kind is RarBlockKind.Main or RarBlockKind.Encryption) || (volume.HasEncryptedHeaders && block.Kind == RarBlockKind.Encryption))
                throw new ArchiveException(ArchiveFault.Broken, "its headers are out of order");
            offset = end + block.DataLength;
            switch (block.Kind)
            {
                case RarBlockKind.Encryption:
                    await headers.EncryptAsync(block.Encryption!, cancellationToken);
                    volume = volume with { HasEncryptedHeaders = true };
                    break;
                case RarBlockKind.Main:
                    hasMain = true;
                    volume = WithMain(volume, block, length);
                    if (format == ArchiveFormat.Rar4 && volume.HasEncryptedHeaders)
                        await headers.EncryptAsync(new RarEncryption(KeyScheme.Rar4, "", RoundsLog2: 0), cancellationToken);
                    break;
                case RarBlockKind.File:
                    parts.Add(block.Part! with { DataOffset = end, DataLength = block.DataLength });
                    if (depth == RarDepth.FirstFile && block.DataLength > 0)
                        return volume;
                    break;
                case RarBlockKind.End:
                    return volume with { IsWhole = true, Continues = block.Continues, Number = block.Number ?? volume.Number };
                default:
                    break;
            }
        }

        // Old programs write no end header, so the end of the file counts. A missing continuation is detected when the set is joined.
        return hasMain ? volume with { IsWhole = true } : throw new ArchiveException(ArchiveFault.Broken, "it has no main header");
    }

    private static (ArchiveFormat Format, long FirstHeader) Recognise(ReadOnlySpan<byte> marker)
    {
        if (marker.StartsWith(Rar5Marker))
            return (ArchiveFormat.Rar5, Rar5Marker.Length);
        if (marker.StartsWith(Rar4Marker))
            return (ArchiveFormat.Rar4, Rar4Marker.Length);
        if (marker.StartsWith("RE~^"u8))
            throw new ArchiveException(ArchiveFault.Unsupported, "it is older than RAR 2.9");
        if (marker.StartsWith("MZ"u8) || marker.StartsWith("\u007FELF"u8))
            throw new ArchiveException(ArchiveFault.Unsupported, "it is a program that unpacks itself");
        throw new ArchiveException(ArchiveFault.Broken, "it does not begin as a RAR volume");
    }

    private static RarVolume WithMain(RarVolume volume, RarBlock main, int length)
    {
        bool Has(RarArchiveFlags flag) => (main.Archive & flag) != 0;

        return volume with
        {
            Number = main.Number,
            IsVolume = Has(RarArchiveFlags.Volume),
            IsFirst = Has(RarArchiveFlags.First),
            HasNewNames = Has(RarArchiveFlags.NewNames),
            IsSolid = Has(RarArchiveFlags.Solid),
            IsLocked = Has(RarArchiveFlags.Locked),
            HasRecovery = Has(RarArchiveFlags.Recovery),
            HasEncryptedHeaders = volume.HasEncryptedHeaders || Has(RarArchiveFlags.EncryptedHeaders),
            MainHeaderLength = length,
        };
    }
}
