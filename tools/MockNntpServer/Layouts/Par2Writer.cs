using System.Globalization;
using System.IO.Hashing;
using System.Security.Cryptography;
using System.Text;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>
/// Writes a PAR2 set (Parity Volume Set Specification 2.0) with a correct index. Recovery volumes hold synthetic blocks, because nothing
/// fetches them. The hashes cost a pass over the described content when the index is first fetched.
/// </summary>
internal sealed class Par2Writer
{
    private const int HeaderLength = 64;
    private const int Start = 16 << 10;
    private const int MostSlices = 200;

    private static readonly byte[] Magic = [.. "PAR2\0PKT"u8];

    private readonly List<Described> _files;
    private readonly long _sliceSize;
    private readonly byte[] _main;
    private readonly byte[] _set;

    /// <param name="files">The described files, by their original names.</param>
    public Par2Writer(IEnumerable<(string Name, MockBytes Bytes)> files)
    {
        _files = [.. files.Select(file => new Described(file.Name, file.Bytes)).OrderBy(file => Convert.ToHexString(file.Id), StringComparer.Ordinal)];
        _sliceSize = (Math.Max(4, _files.Sum(file => file.Bytes.Length) / MostSlices) + 3) / 4 * 4;
        var main = new HeaderBytes().U64(_sliceSize).U32(_files.Count);
        _files.ForEach(file => main.Raw(file.Id));
        _main = main.ToArray();
        _set = Md5(_main);
    }

    /// <summary>Returns the index and the recovery volumes: one block in the first, twice as many in each next one.</summary>
    /// <param name="filler">Creates synthetic bytes for a number of blocks.</param>
    public IEnumerable<(string Name, MockBytes Bytes)> Write(string stem, int blocks, Func<int, long, MockBytes> filler)
    {
        var index = Index();
        yield return ($"{stem}.par2", index);
        for (int first = 0, count = 1; first < blocks; first += count, count *= 2)
        {
            count = Math.Min(count, blocks - first);
            var pieces = new List<MockBytes>();
            for (var block = first; block < first + count; block++)
            {
                // The packet hash is omitted, because it would cost a pass over bytes that nothing reads.
                pieces.Add(MockBytes.Of(new HeaderBytes().Raw(Magic).U64(HeaderLength + 4 + _sliceSize).Raw(new byte[16]).Raw(_set).Raw(TypeOf("RecvSlic")).U32(block).ToArray()));
                pieces.Add(filler(block, _sliceSize));
            }

            yield return (string.Create(CultureInfo.InvariantCulture, $"{stem}.vol{first:000}+{count:00}.par2"), MockBytes.Join([.. pieces, index]));
        }
    }

    private MockBytes Index()
    {
        var packets = new List<MockBytes> { MockBytes.Of(Packet("Main", _main)) };
        foreach (var file in _files)
        {
            packets.Add(Later("FileDesc", 56 + Encoding.UTF8.GetByteCount(file.Name), file.Description));
            packets.Add(Later("IFSC", 16 + (int)(20 * ((file.Bytes.Length + _sliceSize - 1) / _sliceSize)), () => file.Checksums(_sliceSize)));
        }

        packets.Add(MockBytes.Of(Packet("Creator", "MockNntpServer"u8.ToArray())));
        return MockBytes.Join(packets);
    }

    private MockBytes Later(string type, int length, Func<byte[]> body) => MockBytes.Of(HeaderLength + ((length + 3) / 4 * 4), () => Packet(type, body()));

    // magic, length, MD5 of the rest, set, type, body padded to a multiple of four
    private byte[] Packet(string type, byte[] body)
    {
        var rest = new HeaderBytes().Raw(_set).Raw(TypeOf(type)).Raw(body).Raw(new byte[(4 - (body.Length % 4)) % 4]).ToArray();
        return new HeaderBytes().Raw(Magic).U64(rest.Length + 32).Raw(Md5(rest)).Raw(rest).ToArray();
    }

    private static byte[] Md5(byte[] bytes) => CryptographicOperations.HashData(HashAlgorithmName.MD5, bytes);

    private static byte[] TypeOf(string type)
    {
        var full = new byte[16];
        Encoding.ASCII.GetBytes("PAR 2.0\0" + type).CopyTo(full, 0);
        return full;
    }

    private sealed class Described
    {
        private readonly byte[] _hashOfStart;

        public Described(string name, MockBytes bytes)
        {
            (Name, Bytes) = (name, bytes);
            _hashOfStart = bytes.Hash(HashAlgorithmName.MD5, Math.Min(bytes.Length, Start));
            Id = Md5(new HeaderBytes().Raw(_hashOfStart).U64(bytes.Length).Text(name).ToArray());
        }

        public string Name { get; }

        public MockBytes Bytes { get; }

        public byte[] Id { get; }

        // id, MD5, MD5 of the first 16 KiB, length, name
        public byte[] Description() => new HeaderBytes().Raw(Id).Raw(Bytes.Hash(HashAlgorithmName.MD5, Bytes.Length)).Raw(_hashOfStart).U64(Bytes.Length).Text(Name).ToArray();

        // id, MD5 and CRC-32 of each slice; the last slice is padded with zeros
        public byte[] Checksums(long sliceSize)
        {
            var sums = new HeaderBytes().Raw(Id);
            var slice = new byte[checked((int)sliceSize)];
            for (long offset = 0; offset < Bytes.Length; offset += sliceSize)
            {
                var length = (int)Math.Min(sliceSize, Bytes.Length - offset);
                Bytes.Fill(offset, slice.AsSpan(0, length));
                slice.AsSpan(length).Clear();
                sums.Raw(Md5(slice)).U32(Crc32.HashToUInt32(slice));
            }

            return sums.ToArray();
        }
    }
}
