using System.Buffers;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// Decrypts an encrypted post as it is read. To decrypt a block, CBC needs the previous ciphertext block. So reading can begin at any block, at the cost of
/// reading one more block: at most one more article.
/// </summary>
/// <remarks>
/// For one reader at a time. Its bytes are as trustworthy as the ciphertext: a range's last byte lies in the last requested block, and the inner stream
/// finishes that block only after it has verified all bytes served early.
/// </remarks>
internal sealed class AesDecryptStream : ReadOnlyStream
{
    private const int Block = StreamCipher.BlockLength;
    private const int SpanLength = 64 << 10;

    private readonly ReadOnlyStream _inner;
    private readonly Aes _aes = Aes.Create();
    private readonly byte[] _iv;
    private readonly int _skip;
    private readonly long _end;
    private readonly byte[] _cipherText = ArrayPool<byte>.Shared.Rent(SpanLength);
    private ICryptoTransform _decryptor;
    private PlainText _plainText = new();
    private long _position;

    // The offsets below refer to the plain text, where the file begins after _skip bytes. The array holds plain text from _begin up to _next, exclusive;
    // _beginAt is the index of _begin in the array.
    private long _begin;
    private int _beginAt;

    // Ciphertext from _next on is not decrypted yet; _carried bytes, less than a block, have already been read. The first _useless bytes decrypt to garbage,
    // because decryption began in the middle of the ciphertext.
    private long _next;
    private int _carried;
    private int _useless;

    /// <summary>Owns <paramref name="inner"/>, the ciphertext of <see cref="CipherRange"/>; <paramref name="length"/> is the decrypted length.</summary>
    public AesDecryptStream(ReadOnlyStream inner, StreamCipher cipher, long length, long position, long end)
    {
        _inner = inner;
        Length = length;
        _skip = cipher.Skip;
        _end = end;
        _iv = cipher.Iv.ToArray();
        _aes.Key = cipher.Key.ToArray();
        _aes.Mode = CipherMode.CBC;
        _aes.Padding = PaddingMode.None;
        _decryptor = _aes.CreateDecryptor(_aes.Key, _iv);
        _position = position;
    }

    /// <summary>Decrypted length of the whole file, regardless of the requested range.</summary>
    public override long Length { get; }

    public override long Position
    {
        get => _position;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    private long TextPosition => _position + _skip;

    /// <summary>Returns the ciphertext range needed to decrypt a range of a file.</summary>
    public static (long From, long To) CipherRange(StreamCipher cipher, long position, long end) =>
        (StartOf(position + cipher.Skip), StreamCipher.Padded(end + cipher.Skip));

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var count = await DecryptAsync(buffer.Length, cancellationToken);
        Held(count).AsMemory().CopyTo(buffer);
        _position += count;
        return count;
    }

    public override async ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken)
    {
        var count = await DecryptAsync(most, cancellationToken);
        if (count > 0)
            loan.Add(_plainText, Held(count));
        _position += count;
        return count;
    }

    public override void HintSeek(long position)
    {
        if (position >= 0 && position < _end)
            _inner.HintSeek(StartOf(position + _skip));
    }

    public override void WatchProof(Action headArrived) => _inner.WatchProof(headArrived);

    /// <remarks>Offsets refer to the ciphertext, which begins at most a few bytes before the file.</remarks>
    public override StreamSnapshot? Snapshot() => _inner.Snapshot();

    protected override async ValueTask CloseAsync()
    {
        try
        {
            await _inner.DisposeAsync();
        }
        finally
        {
            _decryptor.Dispose();
            _aes.Dispose();
            ArrayPool<byte>.Shared.Return(_cipherText);
            _plainText.Release();
        }
    }

    // The offset of the block before a position's own block, because CBC needs that ciphertext. The first block needs none.
    private static long StartOf(long position) => Math.Max(0, position / Block * Block - Block);

    private ArraySegment<byte> Held(int count) => new(_plainText.Bytes, _beginAt + (int)(TextPosition - _begin), count);

    /// <summary>Decrypts until plain text for the position is available.</summary>
    /// <returns>The number of bytes available, at most as many as wanted; 0 only at the end.</returns>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> DecryptAsync(int wanted, CancellationToken cancellationToken)
    {
        if (_position >= _end || wanted == 0)
            return 0;
        if (TextPosition < _begin || TextPosition > _next)
            MoveTo(TextPosition);
        while (TextPosition >= _next)
            await DecryptNextAsync(cancellationToken);
        return (int)Math.Min(wanted, Math.Min(_next, _end + _skip) - TextPosition);
    }

    /// <summary>Moves to another block. Starts one block earlier, because CBC needs that ciphertext.</summary>
    private void MoveTo(long position)
    {
        var start = StartOf(position);
        if (start == 0)
        {
            _decryptor.Dispose();
            _decryptor = _aes.CreateDecryptor(_aes.Key, _iv);
        }

        _inner.Position = start;
        (_begin, _next, _carried, _useless) = (start, start, 0, start == 0 ? 0 : Block);
    }

    private async ValueTask DecryptNextAsync(CancellationToken cancellationToken)
    {
        var read = await _inner.ReadAsync(_cipherText.AsMemory(_carried, SpanLength - _carried), cancellationToken);
        if (read == 0)
            throw new EndOfStreamException("The encrypted file is shorter than it has to be.");
        _carried += read;
        var whole = _carried / Block * Block;
        if (whole == 0)
            return;

        // A connection may still be sending these bytes, and will return the memory on its own thread.
        if (_plainText.IsLent)
        {
            _plainText.Release();
            _plainText = new PlainText();
        }

        _decryptor.TransformBlock(_cipherText, 0, whole, _plainText.Bytes, 0);
        _cipherText.AsSpan(whole, _carried - whole).CopyTo(_cipherText);
        (_begin, _beginAt) = (_next + _useless, _useless);
        _next += whole;
        _carried -= whole;
        _useless = 0;
    }

    /// <summary>Memory for plain text. Returned to the pool once neither the stream nor a loan holds it.</summary>
    private sealed class PlainText : ILender
    {
        private int _references = 1;

        public byte[] Bytes { get; } = ArrayPool<byte>.Shared.Rent(SpanLength);

        public bool IsLent => Volatile.Read(ref _references) > 1;

        public void Lend(byte[] block) => Interlocked.Increment(ref _references);

        public void TakeBack(byte[] block) => Release();

        public void Release()
        {
            if (Interlocked.Decrement(ref _references) == 0)
                ArrayPool<byte>.Shared.Return(Bytes);
        }
    }
}
