using Sluice.Server.Library;
using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class StoredPredictionTests
{
    private static readonly PredictedVolume Volume = new(7, 91, 5_000_000_000, 2, 341, "name 17");

    [Fact]
    public void Packed_prediction_is_unpacked_unchanged() => Assert.Equal(Volume, StoredPrediction.Unpack(7, StoredPrediction.Pack(Volume)));

    [Fact]
    public void Truncated_prediction_is_refused()
    {
        var packed = StoredPrediction.Pack(Volume);

        for (var length = 0; length < packed.Length; length++)
            Assert.Throws<InvalidDataException>(() => StoredPrediction.Unpack(7, packed[..length]));
    }

    [Fact]
    public void Prediction_of_another_version_is_refused() =>
        Assert.Throws<InvalidDataException>(() => StoredPrediction.Unpack(7, [2, 0, 0, 0, 0, 0]));
}
