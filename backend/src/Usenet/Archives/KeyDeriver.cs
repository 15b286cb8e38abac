using System.Buffers.Binary;
using System.Numerics;
using System.Security.Cryptography;
using System.Text;

namespace Sluice.Usenet.Archives;

/// <summary>Derives keys as RAR and 7z do. Thread-safe, because it has no state.</summary>
/// <remarks>Blocks the calling thread for up to 500 ms. Follows the RAR 5 note and 7zFormat.txt; RAR 3 and 4 are known only from other readers.</remarks>
public sealed class KeyDeriver : IKeyDeriver
{
    /// <summary>More than 2^20 rounds are refused (IMP-57).</summary>
    private const int MaxRoundsLog2 = 20;

    // RAR ignores characters of a password beyond this limit, also when packing.
    private const int MaxRarCharacters = 127;

    private const int Rar4RoundsLog2 = 18;

    // 7z uses this value for "no rounds": salt and password form the key.
    private const int NoRounds = 63;

    private const int KeyLength = 32;

    // The RAR 5 check value takes 32 more rounds than the key.
    private const int CheckRounds = 32;

    // One round of PBKDF2 takes about as long as hashing this many bytes with SHA-1 or SHA-256.
    private const int BytesPerRound = 256;

    // Minimum charge, because every derived key takes memory, no matter how cheap its derivation.
    private const long LeastCost = 1 << 10;

    // 2^6 rounds are laid out in one buffer and hashed by one call.
    private const int BatchLog2 = 6;

    /// <summary>Returns the cost of a key in PBKDF2 rounds; never zero.</summary>
    public static long CostOf(KeyRequest request)
    {
        // A request with too many rounds costs nothing here, because Derive refuses it.
        var rounds = IsPossible(request) && !IsWithoutRounds(request) ? 1L << (request.Scheme == KeyScheme.Rar4 ? Rar4RoundsLog2 : request.RoundsLog2) : 0;
        var cost = request.Scheme switch
        {
            KeyScheme.Rar5 => rounds,
            KeyScheme.Rar5Check => rounds + CheckRounds,
            KeyScheme.Rar4 => rounds * (SeedLength(Shortened(request.Password), request.Salt) + 3) / BytesPerRound,
            _ => rounds * (SeedLength(request.Password, request.Salt) + 8) / BytesPerRound,
        };
        return Math.Max(cost, LeastCost);
    }

    public DerivedKey Derive(KeyRequest request)
    {
        if (!IsPossible(request))
            throw new ArchiveException(ArchiveFault.Unsupported, "its key takes too many rounds to derive");

        var salt = Convert.FromHexString(request.Salt);
        return request.Scheme switch
        {
            KeyScheme.Rar4 => Rar4(request.Password, salt),
            KeyScheme.Rar5 => new DerivedKey(Rar5(request.Password, salt, 1 << request.RoundsLog2), default, default),
            KeyScheme.Rar5Check => new DerivedKey(default, default, Folded(Rar5(request.Password, salt, (1 << request.RoundsLog2) + CheckRounds))),
            _ => SevenZip(request.Password, salt, request.RoundsLog2),
        };
    }

    private static bool IsPossible(KeyRequest request) =>
        request.Scheme == KeyScheme.Rar4 || request.RoundsLog2 is >= 0 and <= MaxRoundsLog2 || IsWithoutRounds(request);

    private static bool IsWithoutRounds(KeyRequest request) => request is { Scheme: KeyScheme.SevenZip, RoundsLog2: NoRounds };

    /// <summary>Hashes password, salt and a 3-byte counter 2^18 times with SHA-1. The digest words, in little-endian order, are the key.</summary>
    /// <remarks>The last digest bytes at 16 intermediate points form the initialization vector.</remarks>
    private static DerivedKey Rar4(string password, byte[] salt)
    {
        byte[] seed = [.. Encoding.Unicode.GetBytes(Shortened(password)), .. salt];
        var round = seed.Length + 3;
        var batch = new byte[round << BatchLog2];
        Span<byte> sum = stackalloc byte[SHA1.HashSizeInBytes];
        var iv = new byte[16];
        using var sha = IncrementalHash.CreateHash(HashAlgorithmName.SHA1);
        for (var first = 0; first < 1 << Rar4RoundsLog2; first += 1 << BatchLog2)
        {
            for (var i = 0; i < 1 << BatchLog2; i++)
            {
                var place = batch.AsSpan(i * round, round);
                seed.CopyTo(place);
                WriteCounter(place[seed.Length..], first + i);
                Rar4Flaw.Apply(seed, (long)(first + i) * round);
            }

            var split = 0;
            if (first % (1 << (Rar4RoundsLog2 - 4)) == 0)
            {
                split = round;
                sha.AppendData(batch, 0, split);
                sha.GetCurrentHash(sum);
                iv[first >> (Rar4RoundsLog2 - 4)] = sum[^1];
            }

            sha.AppendData(batch, split, batch.Length - split);
        }

        sha.GetHashAndReset(sum);
        var key = new byte[16];
        for (var at = 0; at < key.Length; at += 4)
            BinaryPrimitives.WriteUInt32LittleEndian(key.AsSpan(at), BinaryPrimitives.ReadUInt32BigEndian(sum[at..]));
        return new DerivedKey(key, iv, ReadOnlyMemory<byte>.Empty);
    }

    private static byte[] Rar5(string password, byte[] salt, int rounds) =>
        Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(Shortened(password)), salt, rounds, HashAlgorithmName.SHA256, KeyLength);

    private static byte[] Folded(byte[] sum)
    {
        var check = new byte[8];
        for (var i = 0; i < sum.Length; i++)
            check[i % check.Length] ^= sum[i];
        return check;
    }

    /// <summary>Hashes salt, password and an 8-byte counter 2^n times with SHA-256.</summary>
    private static DerivedKey SevenZip(string password, byte[] salt, int roundsLog2)
    {
        byte[] seed = [.. salt, .. Encoding.Unicode.GetBytes(password)];
        if (roundsLog2 == NoRounds)
        {
            Array.Resize(ref seed, KeyLength);
            return new DerivedKey(seed, ReadOnlyMemory<byte>.Empty, ReadOnlyMemory<byte>.Empty);
        }

        var round = seed.Length + 8;
        var batchLog2 = Math.Min(BatchLog2, roundsLog2);
        var batch = new byte[round << batchLog2];
        for (var i = 0; i < 1 << batchLog2; i++)
            seed.CopyTo(batch, i * round);
        using var sha = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        for (var first = 0; first < 1 << roundsLog2; first += 1 << batchLog2)
        {
            for (var i = 0; i < 1 << batchLog2; i++)
                WriteCounter(batch.AsSpan((i * round) + seed.Length, 3), first + i);
            sha.AppendData(batch);
        }

        return new DerivedKey(sha.GetHashAndReset(), ReadOnlyMemory<byte>.Empty, ReadOnlyMemory<byte>.Empty);
    }

    private static int SeedLength(string password, string salt) => (password.Length * sizeof(char)) + (salt.Length / 2);

    private static string Shortened(string password) => password.Length > MaxRarCharacters ? password[..MaxRarCharacters] : password;

    /// <summary>Writes the low 3 bytes of a counter in little-endian order, enough for every counter here.</summary>
    private static void WriteCounter(Span<byte> place, int counter)
    {
        place[0] = (byte)counter;
        place[1] = (byte)(counter >> 8);
        place[2] = (byte)(counter >> 16);
    }
}

/// <summary>
/// A flaw in the SHA-1 implementation of RAR 3 and 4. It overwrites each whole 64-byte input block with the end of the expanded message (FIPS 180-4, 6.1.2: W
/// of 64 to 79), in little-endian words. The next round hashes the overwritten input. Affects passwords of 29 characters and more.
/// </summary>
internal static class Rar4Flaw
{
    private const int Block = 64;

    /// <summary>Overwrites password and salt in place, as hashing them at stream <paramref name="position"/> (in bytes) does.</summary>
    public static void Apply(Span<byte> seed, long position)
    {
        // RAR hashes a copy of the bytes up to the next block boundary, so only whole blocks after that boundary are overwritten.
        for (var at = Block - (int)(position % Block); at + Block <= seed.Length; at += Block)
            Spoil(seed.Slice(at, Block));
    }

    private static void Spoil(Span<byte> block)
    {
        Span<uint> words = stackalloc uint[80];
        for (var t = 0; t < 16; t++)
            words[t] = BinaryPrimitives.ReadUInt32BigEndian(block[(4 * t)..]);
        for (var t = 16; t < words.Length; t++)
            words[t] = BitOperations.RotateLeft(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
        for (var t = 0; t < 16; t++)
            BinaryPrimitives.WriteUInt32LittleEndian(block[(4 * t)..], words[64 + t]);
    }
}
