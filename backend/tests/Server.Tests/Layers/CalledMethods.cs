using System.Reflection;
using System.Reflection.Emit;

namespace Sluice.Server.Tests.Layers;

/// <summary>The methods that the code of a type calls, read from its compiled form.</summary>
internal static class CalledMethods
{
    private const BindingFlags Everything =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private static readonly Dictionary<short, OpCode> Codes = typeof(OpCodes).GetFields()
        .Select(field => field.GetValue(null)).OfType<OpCode>().ToDictionary(code => code.Value);

    /// <summary>Whether code of one type or its bases calls a member of the other type, of its bases or of its interfaces.</summary>
    public static bool Reach(Type from, Type to)
    {
        var members = to.GetInterfaces().Concat(WithBases(to)).Where(type => type != typeof(IDisposable) && type != typeof(IAsyncDisposable)).ToHashSet();
        return WithBases(from).Where(type => type.Assembly == from.Assembly).SelectMany(Of).Any(method => method.DeclaringType is { } owner && members.Contains(owner));
    }

    private static IEnumerable<Type> WithBases(Type type)
    {
        for (var each = type; each is not null && each != typeof(object); each = each.BaseType)
            yield return each;
    }

    /// <summary>Returns all called methods, including calls from lambdas and asynchronous methods.</summary>
    private static IEnumerable<MethodBase> Of(Type type) =>
        type.GetMethods(Everything).Concat<MethodBase>(type.GetConstructors(Everything)).SelectMany(CalledBy)
            .Concat(type.GetNestedTypes(Everything).SelectMany(Of));

    private static IEnumerable<MethodBase> CalledBy(MethodBase method)
    {
        var code = method.GetMethodBody()?.GetILAsByteArray() ?? [];
        for (var at = 0; at < code.Length;)
        {
            var value = code[at] == 0xFE ? (short)(0xFE00 | code[at + 1]) : code[at];
            var operation = Codes[value];
            at += operation.Size;
            if (operation.OperandType == OperandType.InlineMethod && Resolve(method, BitConverter.ToInt32(code, at)) is { } called)
                yield return called;
            at += operation.OperandType switch
            {
                OperandType.InlineNone => 0,
                OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar => 1,
                OperandType.InlineVar => 2,
                OperandType.InlineI8 or OperandType.InlineR => 8,
                OperandType.InlineSwitch => 4 + 4 * BitConverter.ToInt32(code, at),
                _ => 4,
            };
        }
    }

    private static MethodBase? Resolve(MethodBase method, int token)
    {
        var ofType = method.DeclaringType is { IsGenericType: true } generic ? generic.GetGenericArguments() : null;
        var ofMethod = method is { IsGenericMethod: true } ? method.GetGenericArguments() : null;
        return method.Module.ResolveMethod(token, ofType, ofMethod);
    }
}
