using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Single headers of both formats.</summary>
public sealed class RarBlockTests
{
    // Length of the marker of each format, which the writers put first.
    private const int Marker4 = 7;
    private const int Marker5 = 8;

    // Length of the main header, which follows the marker in volumes of the writer.
    private const int Main4 = 13;

    [Fact]
    public void RAR4_Header_size_needs_the_first_seven_bytes()
    {
        var header = File4("film.mkv", 100);
        for (var length = 0; length <= header.Length; length++)
        {
            Assert.Equal(length >= Rar4Block.StartLength, Rar4Block.TryMeasure(header.AsSpan(0, length), out var measured));
            Assert.Equal(length >= Rar4Block.StartLength ? header.Length : 0, measured);
        }
    }

    [Theory]
    [InlineData(10, 5)]
    [InlineData(300, 6)]
    [InlineData(20_000, 7)]
    public void RAR5_Header_size_needs_only_a_complete_size_field(int nameLength, int needed)
    {
        var header = File5(new string('x', nameLength), 100);
        for (var length = 0; length <= Math.Min(header.Length, 40); length++)
        {
            Assert.Equal(length >= needed, Rar5Block.TryMeasure(header.AsSpan(0, length), out var measured));
            Assert.Equal(length >= needed ? header.Length : 0, measured);
        }
    }

    [Fact]
    public void Header_size_below_the_fixed_fields_is_rejected()
    {
        Assert.False(Rar4Block.TryMeasure([0, 0, 0x74, 0, 0, 6, 0], out _));
        Assert.False(Rar5Block.TryMeasure([0, 0, 0, 0, 0, 0, 0], out _));
        Assert.False(Rar5Block.TryMeasure([0, 0, 0, 0, 0x80, 0x80, 0x80], out _));
    }

    [Fact]
    public void A_flipped_bit_in_a_RAR4_header_is_detected()
    {
        var header = File4("film.mkv", 100);
        Assert.True(Rar4Block.IsSound(header));
        for (var bit = 0; bit < header.Length * 8; bit++)
        {
            // A change of the block type or comment flag makes this a RAR 2 block, whose checksum is ignored.
            if (bit is >= 16 and < 24 or (3 * 8) + 3)
                continue;
            var changed = (byte[])header.Clone();
            changed[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.False(Rar4Block.IsSound(changed), $"bit {bit}");
        }
    }

    [Fact]
    public void A_flipped_bit_in_a_RAR5_header_is_detected()
    {
        var header = File5("film.mkv", 100);
        Assert.True(Rar5Block.IsSound(header));
        for (var bit = 0; bit < header.Length * 8; bit++)
        {
            var changed = (byte[])header.Clone();
            changed[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.False(Rar5Block.IsSound(changed), $"bit {bit}");
        }
    }

    [Fact]
    public void Truncated_header_fields_are_broken_at_every_length()
    {
        // Length and checksum of the truncated header are right, so only its fields are wrong.
        var header4 = File4("film.mkv", 100);
        for (var length = Rar4Block.StartLength; length < header4.Length; length++)
            Assert.Equal(ArchiveFault.Broken, Assert.Throws<ArchiveException>(() => Rar4Block.Parse(header4.AsSpan(0, length))).Fault);
        var header5 = File5("film.mkv", 100, Rar5Writer.EncryptionRecord(check: new byte[12]));
        for (var length = 5; length < header5.Length; length++)
            Assert.Equal(ArchiveFault.Broken, Assert.Throws<ArchiveException>(() => Rar5Block.Parse(header5.AsSpan(0, length))).Fault);
    }

    [Fact]
    public void RAR4_File_header_is_parsed_completely()
    {
        var block = Rar4Block.Parse(File4("folder\\film.mkv", 100, Rar4Writer.SplitBefore | Rar4Writer.SplitAfter | 0x10, crc: 0xCAFEBABE));
        var part = block.Part!;

        Assert.Equal((RarBlockKind.File, 5L), (block.Kind, block.DataLength));
        Assert.Equal(("folder/film.mkv", 100L, RarPartKind.File, 0xCAFEBABEu), (part.Path, part.UnpackedLength, part.Kind, part.Crc32));
        Assert.Null(part.Method);
        Assert.True(part.IsSplitBefore && part.IsSplitAfter);
        Assert.Null(part.Encryption);
    }

    [Fact]
    public void RAR4_File_above_4_GiB_uses_the_high_size_field()
    {
        const long Length = 0x1_2345_6789_A;
        Assert.Equal(Length, Rar4Block.Parse(File4("film.mkv", Length, Rar4Writer.Large)).Part!.UnpackedLength);
    }

    [Theory]
    [InlineData(0, '3', "m3")]
    [InlineData(0, '5', "m5")]
    [InlineData(0, '0', null)]
    public void RAR4_Method_is_named_after_its_switch(int flags, char method, string? expected) =>
        Assert.Equal(expected, Rar4Block.Parse(File4("film.mkv", 100, flags, method)).Part!.Method);

    [Theory]
    [InlineData(0xE0, 3, 0x41EDu, RarPartKind.Folder)]
    [InlineData(0, 2, 0x10u, RarPartKind.Folder)]
    [InlineData(0, 3, 0xA1FFu, RarPartKind.Link)]
    [InlineData(0, 2, 0x20u, RarPartKind.File)]
    public void RAR4_Folder_or_link_is_not_a_file(int flags, byte host, uint attributes, RarPartKind expected) =>
        Assert.Equal(expected, Rar4Block.Parse(Header4(writer => writer.File("x", 0, [], flags, host: host, attributes: attributes))).Part!.Kind);

    [Fact]
    public void RAR4_salt_is_part_of_the_file_identity()
    {
        var part = Rar4Block.Parse(File4("film.mkv", 100, Rar4Writer.Encrypted | Rar4Writer.Salted)).Part!;

        Assert.Equal(new RarEncryption(KeyScheme.Rar4, Convert.ToHexString("saltsalt"u8), 0), part.Encryption);
        Assert.Equal(part.Encryption!.Salt, part.Identity.Salt);
    }

    [Theory]
    [InlineData(0x04, 20)]
    [InlineData(0x08, 29)]
    public void RAR4_Files_from_before_version_2_9_are_unsupported(int flags, byte version) =>
        Assert.Equal(
            ArchiveFault.Unsupported,
            Assert.Throws<ArchiveException>(() => Rar4Block.Parse(Header4(writer => writer.File("x", 1, [1], flags, version: version)))).Fault);

    [Fact]
    public void Unknown_file_length_is_unsupported()
    {
        byte[][] headers = [File4("x", uint.MaxValue), File4("x", -1, Rar4Writer.Large), Header5(writer => writer.File("x", 0, [1], fileFlags: 8))];
        Assert.Equal(ArchiveFault.Unsupported, Assert.Throws<ArchiveException>(() => Rar4Block.Parse(headers[0])).Fault);
        Assert.Equal(ArchiveFault.Unsupported, Assert.Throws<ArchiveException>(() => Rar4Block.Parse(headers[1])).Fault);
        Assert.Equal(ArchiveFault.Unsupported, Assert.Throws<ArchiveException>(() => Rar5Block.Parse(headers[2])).Fault);
    }

    [Theory]
    [InlineData(0x75)]
    [InlineData(0x78)]
    [InlineData(0x7A)]
    [InlineData(0x60)]
    public void Other_RAR4_blocks_are_skipped_with_their_data(byte type)
    {
        var header = type == 0x7A
            ? Header4(writer => writer.File("CMT", 9, new byte[33], method: '3', type: type))
            : Header4(writer => writer.Block(type, 0x8000, [33, 0, 0, 0], []));
        Assert.Equal(new RarBlock(RarBlockKind.Other) { DataLength = 33 }, Rar4Block.Parse(header));
    }

    [Theory]
    [InlineData("66696C6D", "film")]
    [InlineData("C3BC62", "üb")]
    [InlineData("FC62", "üb")]
    [InlineData("66696C6D00", "film")]
    [InlineData("615C62", "a/b")]
    public void RAR4_Name_without_a_packed_form_is_UTF8_or_bytes(string bytes, string expected)
    {
        Assert.Equal(expected, Rar4Name.Read(Convert.FromHexString(bytes), hasUnicode: false));
        Assert.Equal(expected, Rar4Name.Read(Convert.FromHexString(bytes), hasUnicode: true));
    }

    // High byte 4; four codes: a low byte, a low byte with the high one, both bytes, a run of 2 of the plain name. Then a corrected run of 4.
    private static byte[] PackedName() =>
        [.. "abcdefgh!"u8, 0, 0x04, 0b00_01_10_11, (byte)'A', 0x41, 0xAC, 0x20, 0x00, 0b11_00_00_00, 0x82, 0x01, (byte)'x', (byte)'y'];

    [Fact]
    public void Packed_RAR4_name_is_decoded_with_every_opcode() =>
        Assert.Equal("A\u0441\u20ACde\u0467\u0468\u0469\u0422xy", Rar4Name.Read(PackedName(), hasUnicode: true));

    [Fact]
    public void Truncated_packed_RAR4_name_gives_a_prefix()
    {
        var packed = PackedName();
        var whole = Rar4Name.Read(packed, hasUnicode: true);
        for (var length = 11; length < packed.Length; length++)
            Assert.StartsWith(Rar4Name.Read(packed.AsSpan(0, length), hasUnicode: true), whole, StringComparison.Ordinal);
    }

    [Fact]
    public void RAR5_File_header_is_parsed_completely()
    {
        byte[] extra =
        [
            .. Rar5Writer.EncryptionRecord(check: null, hasKeyedSums: false), .. Rar5Writer.Record(0x03, [0x03, 0x78, 0x56, 0x34, 0x12]),
            .. Rar5Writer.Record(0x7F, [1, 2, 3]),
        ];
        var block = Rar5Block.Parse(File5("folder/film.mkv", 1L << 40, extra, Rar5Writer.SplitBefore));
        var part = block.Part!;

        Assert.Equal((RarBlockKind.File, 5L), (block.Kind, block.DataLength));
        Assert.Equal(("folder/film.mkv", 1L << 40, RarPartKind.File, 7u), (part.Path, part.UnpackedLength, part.Kind, part.Crc32));
        Assert.True(part is { IsSplitBefore: true, IsSplitAfter: false, Method: null });
        Assert.Equal(0x12345678u, part.Identity.Time);
        Assert.Equal(Convert.ToHexString([.. Rar5Writer.Salt, .. Rar5Writer.Iv]), part.Identity.Salt);
        Assert.Equal(Rar5Writer.Iv, part.Encryption!.Iv.ToArray());
        Assert.True(part.Encryption.Check.IsEmpty);
    }

    [Fact]
    public void Keyed_RAR5_checksum_is_ignored() =>
        Assert.Null(Rar5Block.Parse(File5("x", 1, Rar5Writer.EncryptionRecord(check: null, hasKeyedSums: true))).Part!.Crc32);

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    [InlineData(5)]
    public void A_RAR5_redirection_is_a_link(byte type) =>
        Assert.Equal(RarPartKind.Link, Rar5Block.Parse(File5("x", 1, Rar5Writer.Record(0x05, [type, 0, 1, (byte)'y']))).Part!.Kind);

    [Fact]
    public void RAR5_Check_value_with_a_wrong_sum_is_ignored()
    {
        var deriver = new FreeKeyDeriver();
        RarEncryption EncryptionOf(bool isSound) =>
            Rar5Block.Parse(File5("x", 1, Rar5Writer.EncryptionRecord(Rar5Writer.Check(deriver, "p", isSound)))).Part!.Encryption!;

        Assert.Equal(8, EncryptionOf(isSound: true).Check.Length);
        Assert.Equal(0, EncryptionOf(isSound: false).Check.Length);
    }

    [Fact]
    public void Unknown_RAR5_block_is_skipped_only_if_flagged_skippable()
    {
        Assert.Equal(RarBlockKind.Other, Rar5Block.Parse(Header5(writer => writer.Block(9, 4, [1], [], [1]))).Kind);
        Assert.Equal(
            ArchiveFault.Unsupported, Assert.Throws<ArchiveException>(() => Rar5Block.Parse(Header5(writer => writer.Block(9, 0, [1], [], [])))).Fault);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(127)]
    [InlineData(128)]
    [InlineData(16_383)]
    [InlineData(16_384)]
    public void RAR5_Volume_number_grows_the_header_as_predicted(int number)
    {
        var first = Header5(writer => writer.Main(1), isMain: true);
        var other = Header5(writer => writer.Main(number), isMain: true);

        Assert.Equal(number, Rar5Block.Parse(other).Number);
        Assert.Equal(other.Length, Rar5Block.Grown(first.Length, Rar5Block.VintLength(number) - Rar5Block.VintLength(1)));
    }

    [Fact]
    public void Header_growing_past_127_bytes_gets_a_longer_size_field()
    {
        for (var length = 7; length < 400; length++)
        {
            // No header in shortest form has one of these lengths.
            if (length - 5 >= 0x80 && length - 6 < 0x80)
                continue;
            var size = length - 5 < 0x80 ? length - 5 : length - 6;
            Assert.Equal(size + 1 + 4 + (size + 1 < 0x80 ? 1 : 2), Rar5Block.Grown(length, 1));
        }
    }

    [Theory]
    [InlineData("FFFFFFFFFFFFFFFFFF01", ulong.MaxValue)]
    [InlineData("8000", 0ul)]
    [InlineData("E1CE00", 0x2761ul)]
    public void RAR5_Vint_may_be_longer_than_necessary(string bytes, ulong expected) =>
        Assert.Equal(expected, new RarCursor(Convert.FromHexString(bytes)).Vint());

    [Theory]
    [InlineData("FFFFFFFFFFFFFFFFFF02")]
    [InlineData("8080808080808080808000")]
    [InlineData("80")]
    [InlineData("")]
    public void Unterminated_RAR5_vint_is_broken(string bytes) =>
        Assert.Equal(
            ArchiveFault.Broken, Assert.Throws<ArchiveException>(() => new RarCursor(Convert.FromHexString(bytes)).Vint()).Fault);

    private static byte[] File4(string name, long unpacked, int flags = 0, char method = '0', uint crc = 0) =>
        Header4(writer => writer.File(name, unpacked, "12345"u8, flags, method, crc));

    private static byte[] File5(string name, long unpacked, byte[]? extra = null, int flags = 0) =>
        Header5(writer => writer.File(name, unpacked, "12345"u8, flags, crc: 7, extra: extra));

    private static byte[] Header4(Action<Rar4Writer> write)
    {
        var writer = new Rar4Writer();
        write(writer);
        var bytes = writer.ToArray()[(Marker4 + Main4)..];
        Assert.True(Rar4Block.TryMeasure(bytes, out var length));
        return bytes[..length];
    }

    private static byte[] Header5(Action<Rar5Writer> write, bool isMain = false)
    {
        var writer = new Rar5Writer();
        write(writer);
        var bytes = writer.ToArray()[Marker5..];
        Assert.True(Rar5Block.TryMeasure(bytes, out var length));
        Assert.True(!isMain || length == bytes.Length);
        return bytes[..length];
    }
}
