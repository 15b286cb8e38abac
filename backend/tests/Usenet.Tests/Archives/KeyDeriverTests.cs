using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Compares keys with a plain implementation of each derivation. The fixtures show that they open rar's own archives.</summary>
public sealed class KeyDeriverTests
{
    private const string Salt = "0102030405060708090A0B0C0D0E0F10";

    private static readonly KeyDeriver Deriver = new();

    [Theory]
    [InlineData("", 0)]
    [InlineData("secret", 3)]
    [InlineData("pässword", 10)]
    public void RAR5_Key_and_check_value_match_plain_PBKDF2(string password, int roundsLog2)
    {
        // PBKDF2 step by step (RFC 8018, 5.2); key and check value are two of its intermediate results.
        using var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(password));
        var step = hmac.ComputeHash([.. Convert.FromHexString(Salt), 0, 0, 0, 1]);
        var sum = (byte[])step.Clone();
        byte[]? key = null;
        for (var round = 1; round <= (1 << roundsLog2) + 32; round++)
        {
            if (round == 1 << roundsLog2)
                key = (byte[])sum.Clone();
            if (round == (1 << roundsLog2) + 32)
                break;
            step = hmac.ComputeHash(step);
            for (var i = 0; i < sum.Length; i++)
                sum[i] ^= step[i];
        }

        var derived = Deriver.Derive(new KeyRequest(KeyScheme.Rar5, password, Salt, roundsLog2));
        var check = Deriver.Derive(new KeyRequest(KeyScheme.Rar5Check, password, Salt, roundsLog2));
        Assert.Equal(key, derived.Key.ToArray());
        Assert.Equal([.. Enumerable.Range(0, 8).Select(i => (byte)(sum[i] ^ sum[i + 8] ^ sum[i + 16] ^ sum[i + 24]))], check.Check.ToArray());
        Assert.True(derived.Iv.IsEmpty && derived.Check.IsEmpty && check.Key.IsEmpty);
    }

    [Theory]
    [InlineData("secret")]
    [InlineData("twenty-eight characters long")]
    public void RAR4_Key_and_IV_match_a_plain_SHA1_loop(string password)
    {
        byte[] seed = [.. Encoding.Unicode.GetBytes(password), 1, 2, 3, 4, 5, 6, 7, 8];
        using var sha = IncrementalHash.CreateHash(HashAlgorithmName.SHA1);
        var iv = new List<byte>();
        for (var round = 0; round < 1 << 18; round++)
        {
            sha.AppendData(seed);
            sha.AppendData([(byte)round, (byte)(round >> 8), (byte)(round >> 16)]);
            if (round % (1 << 14) == 0)
                iv.Add(sha.GetCurrentHash()[19]);
        }

        var hash = sha.GetHashAndReset();
        var derived = Deriver.Derive(new KeyRequest(KeyScheme.Rar4, password, "0102030405060708", 0));
        Assert.Equal([.. Enumerable.Range(0, 16).Select(i => hash[i ^ 3])], derived.Key.ToArray());
        Assert.Equal([.. iv], derived.Iv.ToArray());
        Assert.True(derived.Check.IsEmpty);
    }

    [Theory]
    [InlineData("secret", "", 0)]
    [InlineData("secret", "0102", 3)]
    [InlineData("pässword", Salt, 12)]
    public void SevenZip_key_matches_a_plain_SHA256_loop(string password, string salt, int roundsLog2)
    {
        using var sha = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        var counter = new byte[8];
        for (var round = 0L; round < 1 << roundsLog2; round++)
        {
            sha.AppendData(Convert.FromHexString(salt));
            sha.AppendData(Encoding.Unicode.GetBytes(password));
            BinaryPrimitives.WriteInt64LittleEndian(counter, round);
            sha.AppendData(counter);
        }

        Assert.Equal(sha.GetHashAndReset(), Deriver.Derive(new KeyRequest(KeyScheme.SevenZip, password, salt, roundsLog2)).Key.ToArray());
    }

    [Fact]
    public void A_7z_key_without_rounds_is_salt_and_password()
    {
        var key = Deriver.Derive(new KeyRequest(KeyScheme.SevenZip, "secret", "0102", 63)).Key.ToArray();
        Assert.Equal([1, 2, .. Encoding.Unicode.GetBytes("secret"), .. new byte[18]], key);
        Assert.Equal(32, Deriver.Derive(new KeyRequest(KeyScheme.SevenZip, new string('x', 90), "0102", 63)).Key.Length);
    }

    [Fact]
    public void RAR_passwords_are_truncated_to_127_characters()
    {
        var longer = new string('x', 300);
        foreach (var scheme in new[] { KeyScheme.Rar4, KeyScheme.Rar5 })
        {
            byte[] KeyOf(string password) => Deriver.Derive(new KeyRequest(scheme, password, Salt, 3)).Key.ToArray();
            Assert.Equal(KeyOf(longer[..127]), KeyOf(longer));
            Assert.NotEqual(KeyOf(longer[..126]), KeyOf(longer));
        }
    }

    [Theory]
    [InlineData(KeyScheme.Rar5, 21)]
    [InlineData(KeyScheme.Rar5, 63)]
    [InlineData(KeyScheme.Rar5, 255)]
    [InlineData(KeyScheme.SevenZip, 21)]
    [InlineData(KeyScheme.SevenZip, 62)]
    [InlineData(KeyScheme.SevenZip, -1)]
    public void More_than_2_to_the_20_rounds_are_refused(KeyScheme scheme, int roundsLog2) =>
        Assert.Equal(
            ArchiveFault.Unsupported,
            Assert.Throws<ArchiveException>(() => Deriver.Derive(new KeyRequest(scheme, "secret", Salt, roundsLog2))).Fault);

    [Theory]
    [InlineData(KeyScheme.Rar4, 0)]
    [InlineData(KeyScheme.SevenZip, 14)]
    public void Derivation_allocates_nothing_per_round(KeyScheme scheme, int roundsLog2)
    {
        var request = new KeyRequest(scheme, "secret", "0102030405060708", roundsLog2);
        Deriver.Derive(request);
        var before = GC.GetAllocatedBytesForCurrentThread();
        Deriver.Derive(request);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 16_384);
    }
}
