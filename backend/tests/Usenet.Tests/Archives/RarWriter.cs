using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Tests.Yenc;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Writes one RAR volume header by header, valid or invalid.</summary>
internal abstract class RarWriter
{
    private readonly List<byte> _bytes = [];

    /// <summary>Encryption of the following headers, each of which starts with the prefix (salt or initial vector); null for plain headers.</summary>
    protected (byte[] Prefix, byte[] Key, byte[] Iv)? Cipher { get; set; }

    public byte[] ToArray() => [.. _bytes];

    protected void Raw(ReadOnlySpan<byte> bytes) => _bytes.AddRange(bytes);

    /// <summary>Writes a header, encrypted if <see cref="Cipher"/> is set, and its data.</summary>
    protected void Header(byte[] header, ReadOnlySpan<byte> data)
    {
        if (Cipher is { } cipher)
        {
            using var aes = Aes.Create();
            aes.Key = cipher.Key;
            Array.Resize(ref header, (header.Length + 15) & -16);
            Raw(cipher.Prefix);
            header = aes.EncryptCbc(header, cipher.Iv, PaddingMode.None);
        }

        Raw(header);
        Raw(data);
    }

    protected static byte[] Fields(Action<BinaryWriter> write)
    {
        var bytes = new MemoryStream();
        write(new BinaryWriter(bytes));
        return bytes.ToArray();
    }
}

/// <summary>Writes a volume of RAR 4.</summary>
internal sealed class Rar4Writer : RarWriter
{
    public const int Volume = 0x01, Solid = 0x08, EncryptedHeaders = 0x80, First = 0x100;
    public const int SplitBefore = 0x01, SplitAfter = 0x02, Encrypted = 0x04, Large = 0x100, Unicode = 0x200, Salted = 0x400;

    public Rar4Writer(int flags = 0)
    {
        Raw("Rar!\x1A\x07\0"u8);
        Block(0x73, flags, new byte[6], []);
    }

    /// <summary>Encrypts all further headers.</summary>
    public Rar4Writer Encrypt(IKeyDeriver deriver, string password)
    {
        byte[] salt = [1, 2, 3, 4, 5, 6, 7, 8];
        var key = deriver.Derive(new KeyRequest(KeyScheme.Rar4, password, Convert.ToHexString(salt), 0));
        Cipher = (salt, key.Key.ToArray(), key.Iv.ToArray());
        return this;
    }

    public Rar4Writer Block(byte type, int flags, byte[] fields, ReadOnlySpan<byte> data, bool isSound = true)
    {
        var header = Fields(writer =>
        {
            writer.Write((ushort)0);
            writer.Write(type);
            writer.Write((ushort)flags);
            writer.Write((ushort)(7 + fields.Length));
            writer.Write(fields);
        });
        var crc = YencReference.Crc(header.AsSpan(2)) ^ (isSound ? 0u : 1u);
        (header[0], header[1]) = ((byte)crc, (byte)(crc >> 8));
        Header(header, data);
        return this;
    }

    public Rar4Writer File(
        string name, long unpacked, ReadOnlySpan<byte> data, int flags = 0, char method = '0', uint crc = 0, byte host = 3, uint attributes = 0x81A4,
        byte version = 29, byte type = 0x74, byte[]? nameBytes = null)
    {
        var length = data.Length;
        var fields = Fields(writer =>
        {
            var bytes = nameBytes ?? Encoding.UTF8.GetBytes(name);
            writer.Write(length);
            writer.Write((uint)unpacked);
            writer.Write(host);
            writer.Write(crc);
            writer.Write(0x58661234);
            writer.Write(version);
            writer.Write((byte)method);
            writer.Write((ushort)bytes.Length);
            writer.Write(attributes);
            if ((flags & Large) != 0)
            {
                writer.Write(0);
                writer.Write((uint)(unpacked >> 32));
            }

            writer.Write(bytes);
            if ((flags & Salted) != 0)
                writer.Write("saltsalt"u8);
        });
        return Block(type, flags | 0x8000, fields, data);
    }

    public Rar4Writer End(bool continues = false, int? number = null) =>
        Block(0x7B, 0x4000 | (continues ? 1 : 0) | (number is null ? 0 : 8), number is { } n ? [(byte)n, (byte)(n >> 8)] : [], []);
}

/// <summary>Writes a volume of RAR 5.</summary>
internal sealed class Rar5Writer : RarWriter
{
    public const int SplitBefore = 0x08, SplitAfter = 0x10;

    public static byte[] Iv { get; } = [.. Enumerable.Range(100, 16).Select(i => (byte)i)];

    public static byte[] Salt { get; } = [.. Enumerable.Range(50, 16).Select(i => (byte)i)];

    public Rar5Writer() => Raw("Rar!\x1A\x07\x01\0"u8);

    public static byte[] Vint(ulong value)
    {
        var bytes = new List<byte>();
        for (; value >= 0x80; value >>= 7)
            bytes.Add((byte)(value | 0x80));
        return [.. bytes, (byte)value];
    }

    /// <summary>Returns the check value of a password, eight bytes, and its checksum, right or wrong.</summary>
    public static byte[] Check(IKeyDeriver deriver, string password, bool isSound = true)
    {
        var check = deriver.Derive(new KeyRequest(KeyScheme.Rar5, password, Convert.ToHexString(Salt), 4)).Check.ToArray();
        var sum = SHA256.HashData(check)[..4];
        sum[0] ^= isSound ? (byte)0 : (byte)1;
        return [.. check, .. sum];
    }

    /// <summary>Returns the encryption record of a file; without a check value if it is null.</summary>
    public static byte[] EncryptionRecord(byte[]? check, bool hasKeyedSums = false, byte roundsLog2 = 4) =>
        Record(0x01, [0, (byte)((check is null ? 0 : 1) | (hasKeyedSums ? 2 : 0)), roundsLog2, .. Salt, .. Iv, .. check ?? []]);

    public static byte[] Record(byte type, byte[] data) => [.. Vint((ulong)data.Length + 1), type, .. data];

    public Rar5Writer Block(byte type, ulong flags, byte[] fields, byte[] extra, ReadOnlySpan<byte> data, bool isSound = true)
    {
        byte[] body =
        [
            type, .. Vint(flags | (extra.Length > 0 ? 1u : 0) | (data.Length > 0 ? 2u : 0)),
            .. extra.Length > 0 ? Vint((ulong)extra.Length) : [], .. data.Length > 0 ? Vint((ulong)data.Length) : [], .. fields, .. extra,
        ];
        byte[] sized = [.. Vint((ulong)body.Length), .. body];
        byte[] header = [.. BitConverter.GetBytes(YencReference.Crc(sized) ^ (isSound ? 0u : 1u)), .. sized];
        Header(header, data);
        return this;
    }

    /// <summary>Writes the block that announces encrypted headers, and encrypts all further headers.</summary>
    public Rar5Writer Encrypt(IKeyDeriver deriver, string password, byte[]? check)
    {
        Block(4, 0, [0, check is null ? (byte)0 : (byte)1, 4, .. Salt, .. check ?? []], [], []);
        var key = deriver.Derive(new KeyRequest(KeyScheme.Rar5, password, Convert.ToHexString(Salt), 4));
        Cipher = (Iv, key.Key.ToArray(), Iv);
        return this;
    }

    /// <summary>Encrypts all further headers, with the given salt and rounds and the right check value.</summary>
    public Rar5Writer Encrypt(IKeyDeriver deriver, string password, byte[] salt, byte roundsLog2)
    {
        var request = new KeyRequest(KeyScheme.Rar5, password, Convert.ToHexString(salt), roundsLog2);
        var check = deriver.Derive(request with { Scheme = KeyScheme.Rar5Check }).Check.ToArray();
        Block(4, 0, [0, 1, roundsLog2, .. salt, .. check, .. SHA256.HashData(check).AsSpan(0, 4)], [], []);
        Cipher = (Iv, deriver.Derive(request).Key.ToArray(), Iv);
        return this;
    }

    public Rar5Writer Main(int? number = null, int flags = 0) =>
        Block(1, 0, number switch
        {
            null => [(byte)flags],
            0 => [(byte)(flags | 1)],
            _ => [(byte)(flags | 3), .. Vint((ulong)number)],
        }, [], []);

    public Rar5Writer File(
        string name, long unpacked, ReadOnlySpan<byte> data, int flags = 0, int method = 0, uint? crc = 0, byte[]? extra = null, int fileFlags = 0,
        byte type = 2) =>
        Block(
            type, (ulong)flags,
            [
                .. Vint((ulong)(fileFlags | (crc is null ? 0 : 4))), .. Vint((ulong)unpacked), .. Vint(0x81A4),
                .. crc is { } sum ? BitConverter.GetBytes(sum) : [], .. Vint((ulong)(method << 7)), 1,
                .. Vint((ulong)Encoding.UTF8.GetByteCount(name)), .. Encoding.UTF8.GetBytes(name),
            ],
            extra ?? [], data);

    public Rar5Writer End(bool continues = false) => Block(5, 4, [continues ? (byte)1 : (byte)0], [], []);
}
