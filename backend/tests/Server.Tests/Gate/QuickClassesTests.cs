using System.Reflection;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.WebDav.Tree;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Gate;

/// <summary>The choice of tests for <c>tools/test.sh --quick</c>.</summary>
public sealed class QuickClassesTests
{
    private static readonly IReadOnlyList<string> Quick = QuickClasses.In(typeof(QuickClassesTests).Assembly);

    [Theory]
    [InlineData(typeof(SearchTextTests))]
    [InlineData(typeof(HashLineTests))]
    public void Class_without_database_or_socket_is_quick(Type test) => Assert.Contains(test.FullName, Quick);

    [Theory]
    [InlineData(typeof(SluiceDatabaseTests))]
    [InlineData(typeof(DamagedStartTests))]
    [InlineData(typeof(PartChoiceTests))]
    [InlineData(typeof(ShippedFormTests))]
    [InlineData(typeof(StatusTableTests))]
    public void Class_with_database_or_socket_is_not_quick(Type test) => Assert.DoesNotContain(test.FullName, Quick);

    [Fact]
    public void No_quick_class_belongs_to_a_part()
    {
        var marked = Quick.Select(name => typeof(QuickClassesTests).Assembly.GetType(name)!)
            .Where(type => type.GetCustomAttributesData().Any(attribute => attribute.AttributeType == typeof(TraitAttribute)));
        Assert.Empty(marked);
    }

    [Fact(Explicit = true)]
    public void Quick_classes_are_listed() => QuickClasses.Write(Assembly.GetExecutingAssembly());
}
