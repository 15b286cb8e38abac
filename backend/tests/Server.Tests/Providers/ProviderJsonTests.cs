using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Server.Tests.Providers;

public sealed class ProviderJsonTests
{
    [Fact]
    public void Provider_JSON_from_the_contract_is_parsed()
    {
        var provider = Single(
            """
            {"ProviderId":"5b0f6a52-1111-4222-8333-944455556666","Nickname":"main","Host":"news.example.com","Port":563,"UseSsl":true,"SkipTlsVerification":false,"TlsPin":"",
             "User":"u","Pass":"p","MaxConnections":20,"Type":1,"Priority":0,"PipeliningDepth":null,"StorageGroup":"","ByteLimit":null,"BytesUsedOffset":0,"BytesUsedResetAt":0}
            """);

        Assert.Equal(
            new ProviderOptions
            {
                Id = Guid.Parse("5b0f6a52-1111-4222-8333-944455556666"),
                Name = "main",
                Host = "news.example.com",
                Port = 563,
                UseTls = true,
                User = "u",
                Password = "p",
                MaxConnections = 20,
                Kind = ProviderKind.Pooled,
            },
            provider);
    }

    [Theory]
    [InlineData(""" "ByteLimit":500 """, 500, 0, 0)]
    [InlineData(""" "ByteLimit":"500","ResetDay":28 """, 500, 28, 20)]
    [InlineData(""" "ByteLimit":500,"ResetDay":1,"Type":2 """, 500, 1, 0)]
    [InlineData(""" "ByteLimit":500,"ResetDay":1,"ReservePercent":0 """, 500, 1, 0)]
    public void Data_cap_has_a_reserve_by_kind(string fields, long limit, int resetDay, int reserve)
    {
        var quota = Single($$"""{"Host":"h",{{fields}}}""").Quota!;
        Assert.Equal((limit, resetDay, reserve), (quota.ByteLimit, quota.ResetDay, quota.ReservePercent));
    }

    [Theory]
    [InlineData(""" "Port":563 """)]
    [InlineData(""" "ByteLimit":null,"BytesUsedOffset":7,"BytesUsedResetAt":1700000000000 """)]
    [InlineData(""" "ByteLimit":0 """)]
    public void Provider_without_a_limit_has_no_cap(string fields) => Assert.Null(Single($$"""{"Host":"h",{{fields}}}""").Quota);

    [Fact]
    public void Used_bytes_of_older_settings_keep_their_meaning()
    {
        var quota = Single("""{"Host":"h","ByteLimit":1000,"BytesUsedOffset":300,"BytesUsedResetAt":1700000000000}""").Quota!;
        Assert.Equal((300, DateTimeOffset.FromUnixTimeMilliseconds(1_700_000_000_000)), (quota.UsedBefore, quota.UsedBeforeAt));
    }

    [Theory]
    [InlineData("""{"Host":"h"}""", 563)]
    [InlineData("""{"Host":"h","UseSsl":false}""", 119)]
    [InlineData("""{"Host":"h","UseSsl":false,"Port":563}""", 563)]
    public void Port_defaults_by_TLS_unless_it_is_set(string element, int port) => Assert.Equal(port, Single(element).Port);

    [Fact]
    public void Names_are_case_insensitive_and_unknown_ones_ignored()
    {
        var provider = Single("""{"host":"h","USESSL":"no","maxconnections":"7","whatever":[1],"\ud800":1,"backbone":"omicron"}""");

        Assert.Equal((false, 7, "omicron", "h"), (provider.UseTls, provider.MaxConnections, provider.Backbone, provider.Name));
    }

    [Theory]
    [InlineData("""{}""", "Host")]
    [InlineData("""{"Host":""}""", "Host")]
    [InlineData("""{"Host":7}""", "Host")]
    [InlineData("""{"Host":"a b"}""", "Host")]
    [InlineData("""{"Host":"a\r\nQUIT"}""", "Host")]
    [InlineData("""{"Host":"a\u0000"}""", "Host")]
    [InlineData("""{"Host":"h","User":"a\nb"}""", "User")]
    [InlineData("""{"Host":"h","Pass":"a\rb"}""", "Pass")]
    [InlineData("""{"Host":"h","Nickname":"a\u0007b"}""", "Nickname")]
    [InlineData("""{"Host":"h","StorageGroup":"a\nb"}""", "StorageGroup")]
    [InlineData("""{"Host":"h","Port":0}""", "Port")]
    [InlineData("""{"Host":"h","Port":65536}""", "Port")]
    [InlineData("""{"Host":"h","Port":"x"}""", "Port")]
    [InlineData("""{"Host":"h","MaxConnections":0}""", "MaxConnections")]
    [InlineData("""{"Host":"h","MaxConnections":501}""", "MaxConnections")]
    [InlineData("""{"Host":"h","Type":4}""", "Type")]
    [InlineData("""{"Host":"h","Priority":100}""", "Priority")]
    [InlineData("""{"Host":"h","PipeliningDepth":65}""", "PipeliningDepth")]
    [InlineData("""{"Host":"h","PipeliningDepth":0}""", "PipeliningDepth")]
    [InlineData("""{"Host":"h","ByteLimit":-1}""", "ByteLimit")]
    [InlineData("""{"Host":"h","ByteLimit":1000000000000000001}""", "ByteLimit")]
    [InlineData("""{"Host":"h","ByteLimit":1,"ResetDay":29}""", "ResetDay")]
    [InlineData("""{"Host":"h","ByteLimit":1,"ReservePercent":91}""", "ReservePercent")]
    [InlineData("""{"Host":"h","ByteLimit":1,"BytesUsedOffset":1000000000000000001}""", "BytesUsedOffset")]
    [InlineData("""{"Host":"h","ByteLimit":1,"BytesUsedResetAt":-1}""", "BytesUsedResetAt")]
    [InlineData("""{"Host":"h","TlsPin":"abc"}""", "TlsPin")]
    [InlineData("""{"Host":"h","ProviderId":"abc"}""", "ProviderId")]
    [InlineData("""{"Host":"h","UseSsl":"perhaps"}""", "UseSsl")]
    [InlineData("""{"Host":"\ud800"}""", "Host")]
    [InlineData("""{"Host":"h","Pass":"\udc00"}""", "Pass")]
    [InlineData("""{"Host":"h","UseSsl":"\ud800"}""", "UseSsl")]
    [InlineData("""{"Host":"h","Port":"\ud800"}""", "Port")]
    [InlineData("""[]""", "object")]
    [InlineData("""null""", "object")]
    public void Invalid_element_is_left_out_with_its_index_and_field(string element, string field)
    {
        var providers = ProviderJson.Read($$"""{"Providers":[{"Host":"first"},{{element}},{"Host":"last"}]}""", out var warnings);

        Assert.Equal(["first", "last"], providers.Select(provider => provider.Host));
        var warning = Assert.Single(warnings);
        Assert.Contains("element 1 ", warning, StringComparison.Ordinal);
        Assert.Contains(field, warning, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', warning);
    }

    [Theory]
    [InlineData("""{"Host":"h","MaxConnections":1,"Type":0,"Priority":99,"PipeliningDepth":64}""")]
    [InlineData("""{"Host":"h","MaxConnections":500,"Type":3,"Priority":0,"PipeliningDepth":1}""")]
    [InlineData("""{"Host":"h","ByteLimit":1000000000000000000,"ResetDay":28,"ReservePercent":90,"BytesUsedOffset":-1000000000000000000,"BytesUsedResetAt":253402300799999}""")]
    public void Values_at_their_bounds_are_accepted(string element) => Single(element);

    [Theory]
    [InlineData("{}")]
    [InlineData("""{"Providers":7}""")]
    [InlineData("nothing")]
    [InlineData("""{"Providers":[{"Host":"\ud800"}]}""")]
    public void Text_without_a_provider_list_gives_one_warning(string json)
    {
        Assert.Empty(ProviderJson.Read(json, out var warnings));
        Assert.Single(warnings);
    }

    [Fact]
    public void Derived_account_ids_are_stable_and_unique()
    {
        const string json = """{"Providers":[{"Host":"h","User":"a"},{"Host":"h","User":"b"},{"Host":"h","User":"a"}]}""";

        var first = ProviderJson.Read(json, out _).Select(provider => provider.Id).ToList();

        Assert.Equal(3, first.Distinct().Count());
        Assert.Equal(first, ProviderJson.Read(json, out _).Select(provider => provider.Id));
    }

    [Fact]
    public void Providers_above_the_limit_are_skipped()
    {
        var elements = string.Join(',', Enumerable.Range(0, 65).Select(i => $$"""{"Host":"h{{i}}"}"""));

        Assert.Equal(ProviderSet.MaxProviders, ProviderJson.Read($$"""{"Providers":[{{elements}}]}""", out var warnings).Count);
        Assert.Single(warnings);
    }

    private static ProviderOptions Single(string element)
    {
        var providers = ProviderJson.Read($$"""{"Providers":[{{element}}]}""", out var warnings);
        Assert.Empty(warnings);
        return Assert.Single(providers);
    }
}
