using System.Globalization;

namespace Sluice.Usenet.Archives;

/// <summary>One coder of a folder (7zFormat.txt, "Folder"). Inputs and outputs are as seen when unpacking.</summary>
internal sealed record SevenZipCoder(ulong Id, int Inputs, int Outputs, ReadOnlyMemory<byte> Properties)
{
    public const ulong Copy = 0x00;
    public const ulong Lzma = 0x03_01_01;
    public const ulong Lzma2 = 0x21;
    public const ulong Aes = 0x06_F1_07_01;

    /// <summary>Display name (Methods.txt).</summary>
    public string Name => Id switch
    {
        Copy => "Copy",
        Lzma => "LZMA",
        Lzma2 => "LZMA2",
        Aes => "AES",
        0x03 => "Delta",
        0x04 or 0x03_03_01_03 => "BCJ",
        0x03_03_01_1B => "BCJ2",
        0x05 or 0x03_03_02_05 => "PPC",
        0x06 or 0x03_03_04_01 => "IA64",
        0x07 or 0x03_03_05_01 => "ARM",
        0x08 or 0x03_03_07_01 => "ARMT",
        0x09 or 0x03_03_08_05 => "SPARC",
        0x0A => "ARM64",
        0x0B => "RISCV",
        0x03_04_01 => "PPMd",
        0x04_01_08 => "Deflate",
        0x04_01_09 => "Deflate64",
        0x04_02_02 => "BZip2",
        0x04_F7_11_01 => "Zstandard",
        0x04_F7_11_02 => "Brotli",
        0x04_F7_11_04 => "LZ4",
        _ => string.Create(CultureInfo.InvariantCulture, $"method {Id:X}"),
    };
}

/// <summary>Files packed as one stream, and the coders they passed through.</summary>
/// <param name="Coders">The coders in header order.</param>
/// <param name="Chain">Coder indexes in unpacking order; null unless the coders form a chain with one input and one output each.</param>
/// <param name="MainOutput">Index of the unconsumed output, which holds the unpacked data.</param>
internal sealed record SevenZipFolder(IReadOnlyList<SevenZipCoder> Coders, IReadOnlyList<int>? Chain, int MainOutput, int PackedStreams)
{
    /// <summary>Maximum number of coders, and of their streams; no program writes more.</summary>
    private const int MaxCoders = 32;

    private const int LongIdentifier = 8;

    /// <summary>Length of each output in bytes.</summary>
    public IReadOnlyList<long> OutputLengths { get; init; } = [];

    /// <summary>CRC-32 of the unpacked data; null if unknown.</summary>
    public uint? Crc { get; init; }

    public int FirstPacked { get; init; }

    public long Length => OutputLengths[MainOutput];

    public int Outputs => Coders.Sum(coder => coder.Outputs);

    /// <summary>The AES coder; null if the data is not encrypted.</summary>
    public SevenZipCoder? Cipher => Coders.FirstOrDefault(coder => coder.Id == SevenZipCoder.Aes);

    /// <summary>Names of the compressing and filtering coders; null if the data is stored, with at most one layer of encryption.</summary>
    public string? Method
    {
        get
        {
            var names = Coders.Where(coder => coder.Id is not (SevenZipCoder.Copy or SevenZipCoder.Aes)).Select(coder => coder.Name).ToList();
            if (names.Count > 0)
                return string.Join('+', names.Distinct());
            return Chain is not null && Coders.Count(coder => coder.Id == SevenZipCoder.Aes) <= 1 ? null : "AES";
        }
    }

    public static SevenZipFolder Read(SevenZipCursor cursor)
    {
        var count = cursor.ReadCount(MaxCoders);
        if (count == 0)
            throw Broken();
        var coders = Enumerable.Range(0, count).Select(_ => ReadCoder(cursor)).ToArray();
        var inputs = coders.Sum(coder => coder.Inputs);
        var outputs = coders.Sum(coder => coder.Outputs);
        if (inputs > MaxCoders || outputs > MaxCoders || outputs == 0 || inputs < outputs - 1)
            throw Broken();

        // For each output, the input that consumes it; -1 if none does.
        var takenBy = Enumerable.Repeat(-1, outputs).ToArray();
        var isTied = new bool[inputs];
        for (var i = 0; i < outputs - 1; i++)
        {
            var input = cursor.ReadCount();
            var output = cursor.ReadCount();
            if (input >= inputs || output >= outputs || isTied[input] || takenBy[output] >= 0)
                throw Broken();
            (isTied[input], takenBy[output]) = (true, input);
        }

        var packed = inputs - (outputs - 1);
        // A single packed stream uses the free input. Several streams list their inputs, which only an unpacker needs.
        for (var i = 0; packed > 1 && i < packed; i++)
            cursor.ReadCount();
        return new SevenZipFolder(coders, FindChain(coders, takenBy, Array.IndexOf(isTied, false)), Array.IndexOf(takenBy, -1), packed);
    }

    private static SevenZipCoder ReadCoder(SevenZipCursor cursor)
    {
        var flags = cursor.ReadByte();
        var idLength = flags & 0x0F;
        if (idLength > LongIdentifier || (flags & 0xC0) != 0)
            throw new ArchiveException(ArchiveFault.Unsupported, "it was packed in an unknown way");
        ulong id = 0;
        foreach (var digit in cursor.Take(idLength).Span)
            id = (id << 8) | digit;
        var isComplex = (flags & 0x10) != 0;
        var inputs = isComplex ? cursor.ReadCount(MaxCoders) : 1;
        var outputs = isComplex ? cursor.ReadCount(MaxCoders) : 1;
        return new SevenZipCoder(id, inputs, outputs, (flags & 0x20) != 0 ? cursor.Take(cursor.ReadNumber()) : default);
    }

    // Each coder of a chain has one input and one output, so the index of the coder is also the index of its input and output.
    private static int[]? FindChain(SevenZipCoder[] coders, int[] takenBy, int first)
    {
        if (coders.Any(coder => coder is not { Inputs: 1, Outputs: 1 }))
            return null;
        var chain = new List<int>();
        for (var at = first; at >= 0 && chain.Count < coders.Length; at = takenBy[at])
            chain.Add(at);
        return chain.Count == coders.Length ? [.. chain] : null;
    }

    private static ArchiveException Broken() => new(ArchiveFault.Broken, "the coders in its header contradict each other");
}
